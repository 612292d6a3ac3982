import { digest } from '../../digest.ts'

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

/** `id` itself, or `<prefix>-<digest>` of one that the service would refuse. */
export const acceptedId = (id: string, prefix: string): string => (isExternalId(id) ? id : `${prefix}-${digest(id)}`)

/**
 * Generates ids for lines without one, from the line's text and how many lines before have the same text, so that they are
 * the same each time the file is read.
 */
export const newLineIds = (): ((text: string) => string) => {
  const counts = new Map<string, number>()
  return (text) => {
    const hash = digest(text)
    const count = (counts.get(hash) ?? 0) + 1
    counts.set(hash, count)
    return count === 1 ? `line-${hash}` : `line-${hash}-${count}`
  }
}
