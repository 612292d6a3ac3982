import { hash } from 'node:crypto'

/** Begins with a zero byte. */
let scratch = Buffer.alloc(64 * 1024)

/** The bytes of a text as one character each, which is UTF-8 that is not decoded. */
export const rawText = (text: string): string => Buffer.from(text).toString('latin1')

/**
 * The leaf hash of an event from raw texts: UTF-8 that is not decoded, one character for each byte. JSON escapes only ASCII
 * characters, so the bytes are those of the decoded text, and the hash is that of `leafHashOf` in `entry.ts`.
 * The parts are id, stream, type, metadata and data.
 */
export const rawLeafHash = (...parts: readonly [string, string, string, string, string]): Buffer => {
  const entry = JSON.stringify(parts)
  if (entry.length >= scratch.length) scratch = Buffer.alloc(entry.length * 2)
  scratch.write(entry, 1, 'latin1')
  return hash('sha256', scratch.subarray(0, 1 + entry.length), 'buffer')
}
