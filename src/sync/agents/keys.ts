import { createHash } from 'node:crypto'

const longest = 1_024

/** A short digest of a text: 128 bits, safe in paths and file names. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22)

/** Whether the service takes `id` as an externalId, and a URL path keeps it as it is. */
export const isKey = (id: unknown): id is string =>
  typeof id === 'string' &&
  id.length > 0 &&
  id.length <= longest &&
  id.isWellFormed() &&
  !id.includes('\0') &&
  id !== '.' &&
  id !== '..'

/**
 * Ids for lines that carry none: made of the line's text and how often the same text came before, so that they are the same
 * each time the file is read.
 */
export const lineIds = (): ((text: string) => string) => {
  const seen = new Map<string, number>()
  return (text) => {
    const hash = digest(text)
    const times = (seen.get(hash) ?? 0) + 1
    seen.set(hash, times)
    return times === 1 ? `line-${hash}` : `line-${hash}-${times}`
  }
}
