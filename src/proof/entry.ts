import type { RecordedEvent } from '../log/log.ts'
import { leafHash, sha256 } from './tree.ts'

/** The parts of an event that are in the tree: not position and revision, which a copy of the log may change. */
export type Entry = Pick<RecordedEvent, 'id' | 'stream' | 'type' | 'metadata' | 'data'>

/**
 * The leaf entry of an event: five strings, metadata and data as recorded. This form never changes, because every published
 * checkpoint depends on it.
 */
export const entryOf = ({ id, stream, type, metadata, data }: Entry): string =>
  JSON.stringify([id, stream, type, metadata, data])

export const leafHashOf = (event: Entry): Buffer => leafHash(entryOf(event))

/** The event of an entry; undefined for any other text. */
export const parseEntry = (text: string): Entry | undefined => {
  try {
    const parts: unknown = JSON.parse(text)
    if (!Array.isArray(parts) || parts.length !== 5 || parts.some((part) => typeof part !== 'string')) return undefined
    const [id, stream, type, metadata, data] = parts as [string, string, string, string, string]
    return { id, stream, type, metadata, data }
  } catch {
    return undefined
  }
}

/** A buffer for entries that is used again and again. Its first byte is zero. */
let scratch = Buffer.alloc(64 * 1024)

/** The bytes of a text as one character each, which is UTF-8 that is not decoded. */
export const rawText = (text: string): string => Buffer.from(text).toString('latin1')

/**
 * The leaf hash of an event from raw texts: UTF-8 that is not decoded, one character for each byte. JSON escapes only ASCII
 * characters, so the bytes are those of the decoded text, and the hash is that of `leafHashOf`.
 * The parts are id, stream, type, metadata and data.
 */
export const rawLeafHash = (...parts: readonly [string, string, string, string, string]): Buffer => {
  const entry = JSON.stringify(parts)
  if (entry.length >= scratch.length) scratch = Buffer.alloc(entry.length * 2)
  scratch.write(entry, 1, 'latin1')
  return sha256(scratch.subarray(0, 1 + entry.length))
}
