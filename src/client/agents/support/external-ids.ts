import { digest } from '../../digest.ts'
import { newHashedMap } from './hashed-map.ts'

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

/** Makes an id from the text of a line. */
export type LineIds = (text: string) => string

/**
 * Makes ids for lines without one, from the line's text and the number of earlier lines with the same text, so that they are the
 * same each time that the file is read.
 */
export const newLineIds = (): LineIds => {
  const seen = newHashedMap()
  const repetitions = new Map<string, number>()
  return (text) => {
    const hash = digest(text)
    if (seen.add(hash)) return `line-${hash}`
    const count = (repetitions.get(hash) ?? 1) + 1
    repetitions.set(hash, count)
    return `line-${hash}-${count}`
  }
}

/** Makes the id of a message from the one that its agent has stored and the text of its line. */
export type MessageIds = (wanted: unknown, text: string) => string

/**
 * Makes ids that are usable and unique in a session: the second message with the id `x` gets `x-2`, and one without a usable id gets
 * one from the text of its line. They are the same each time that a file is read to which lines are only appended.
 */
export const newMessageIds = (): MessageIds => {
  const lineId = newLineIds()
  const used = newHashedMap()
  const repetitions = new Map<string, number>()
  const unused = (id: string): string => {
    if (used.get(id) === undefined) return id
    const stem = id.length > MAX_LENGTH / 2 ? digest(id) : id
    let number = repetitions.get(id) ?? 2
    while (used.get(`${stem}-${number}`) !== undefined) number++
    repetitions.set(id, number + 1)
    return `${stem}-${number}`
  }
  return (wanted, text) => {
    const id = unused(isExternalId(wanted) ? wanted : lineId(text))
    used.add(id)
    return id
  }
}

/** Makes empty ids, for a first reading, which does not use them. */
export const noMessageIds = (): string => ''
