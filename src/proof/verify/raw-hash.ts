import { hash } from 'node:crypto'

let scratch = Buffer.alloc(64 * 1024)

/** The bytes of a text as one character each: UTF-8 that is not decoded. */
export const rawText = (text: string): string => Buffer.from(text).toString('latin1')

/**
 * The leaf hash of an event whose texts are raw: UTF-8 that was not decoded, one character a byte. JSON escapes ASCII
 * characters only, so that the bytes come out as those of the decoded text would: the same as `leafHashOf` of `../entry.ts`.
 * The parts are id, stream, type, metadata and data.
 */
export const rawLeafHash = (...parts: readonly [string, string, string, string, string]): Buffer => {
  const entry = `\0${JSON.stringify(parts)}`
  if (entry.length > scratch.length) scratch = Buffer.alloc(entry.length * 2)
  scratch.write(entry, 0, 'latin1')
  return hash('sha256', scratch.subarray(0, entry.length), 'buffer')
}
