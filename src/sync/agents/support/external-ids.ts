import { digest } from '../../digest.ts'
import { newHashedMap, type SavedMap } from './hashed-map.ts'

const MAX_LENGTH = 1_024

/** Whether the service accepts `id` as an externalId, and a URL path can hold it: `.` and `..` would be resolved. */
export const isExternalId = (id: unknown): id is string =>
  typeof id === 'string' &&
  id.length > 0 &&
  id.length <= MAX_LENGTH &&
  id.isWellFormed() &&
  !id.includes('\0') &&
  id !== '.' &&
  id !== '..'

/** The externalId of a session's trace or of a message: `id` itself, or `<kind>-<digest>` of one that the service would refuse. */
export const acceptedId = (id: string, kind: 'session' | 'message'): string =>
  isExternalId(id) ? id : `${kind}-${digest(id)}`

/** What ids were given, as plain JSON. */
export type SavedIds = { readonly known: SavedMap; readonly repetitions: readonly (readonly [string, number])[] }

/** Makes ids of texts, one after the other. */
export type LineIds = ((text: string) => string) & { readonly save: () => SavedIds }

/**
 * Generates ids for lines without one, from the line's text and how many lines before have the same text, so that they are
 * the same each time the file is read.
 */
export const newLineIds = (saved?: SavedIds): LineIds => {
  const seen = newHashedMap(saved?.known)
  const repetitions = new Map(saved?.repetitions)
  const idOf = (text: string): string => {
    const hash = digest(text)
    if (seen.add(hash)) return `line-${hash}`
    const count = (repetitions.get(hash) ?? 1) + 1
    repetitions.set(hash, count)
    return `line-${hash}-${count}`
  }
  return Object.assign(idOf, { save: () => ({ known: seen.saveKeys(), repetitions: [...repetitions] }) })
}

export type SavedMessageIds = SavedIds & { readonly lines: SavedIds }

/** Gives the id of a message, of the one that its agent has given it and the text of its line. */
export type MessageIds = ((wanted: unknown, text: string) => string) & { readonly save: () => SavedMessageIds }

/**
 * Makes the id of each message that an agent has given an unusable one, or the same as another: the second `x` is `x-2`; a
 * line without an id gets one of its text. Files that are only appended to give the same ids each time.
 */
export const newMessageIds = (saved?: SavedMessageIds): MessageIds => {
  const lineId = newLineIds(saved?.lines)
  const used = newHashedMap(saved?.known)
  const repetitions = new Map(saved?.repetitions)
  const unused = (id: string): string => {
    if (used.get(id) === undefined) return id
    const stem = id.length > MAX_LENGTH / 2 ? digest(id) : id
    let number = repetitions.get(id) ?? 2
    while (used.get(`${stem}-${number}`) !== undefined) number++
    repetitions.set(id, number + 1)
    return `${stem}-${number}`
  }
  const idOf = (wanted: unknown, text: string): string => {
    const id = unused(isExternalId(wanted) ? wanted : lineId(text))
    used.add(id)
    return id
  }
  const save = () => ({ known: used.saveKeys(), repetitions: [...repetitions], lines: lineId.save() })
  return Object.assign(idOf, { save })
}

/** For a first reading, of which no ids are needed. */
export const noMessageIds = Object.assign(() => '', { save: newMessageIds().save })
