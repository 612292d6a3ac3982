import { digest } from '../../digest.ts'
import { newHashedMap, type SavedMap } from './hashed-map.ts'

const MAX_LENGTH = 1_024

/** Whether the service accepts `id` as an externalId, and it can be used in a URL's path, where `.` and `..` would be resolved. */
export const isExternalId = (id: unknown): id is string =>
  typeof id === 'string' &&
  id.length > 0 &&
  id.length <= MAX_LENGTH &&
  id.isWellFormed() &&
  !id.includes('\0') &&
  id !== '.' &&
  id !== '..'

/** The externalId of a session's trace or of a message: `id`, or `<kind>-<digest>` where the service would refuse `id`. */
export const acceptedId = (id: string, kind: 'session' | 'message'): string =>
  isExternalId(id) ? id : `${kind}-${digest(id)}`

/** The ids that were given so far, as plain JSON. */
export type SavedIds = { readonly known: SavedMap; readonly repetitions: readonly (readonly [string, number])[] }

/** Makes an id from the text of a line. */
export type LineIds = ((text: string) => string) & { readonly save: () => SavedIds }

/**
 * Makes ids for lines without one, from the line's text and the number of earlier lines with the same text, so that they are the
 * same each time that the file is read.
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

/** Makes the id of a message from the one that its agent has stored and the text of its line. */
export type MessageIds = ((wanted: unknown, text: string) => string) & { readonly save: () => SavedMessageIds }

/**
 * Makes ids that are usable and unique in a session: the second message with the id `x` gets `x-2`, and one without a usable id gets
 * one from the text of its line. They are the same each time that a file is read to which lines are only appended.
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

/** Makes empty ids, for a first reading, which does not use them. */
export const noMessageIds = Object.assign(() => '', { save: newMessageIds().save })
