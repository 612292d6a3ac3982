import { createHash } from 'node:crypto'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
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

/** How many texts an entry has: id, stream, type, metadata and data. */
export const PARTS = 5

/** Larger events are hashed piece by piece: their entries would stay in memory for long, because little else makes V8 collect garbage there. */
const PIECE_BYTES = 64 * 1024
/** A buffer for entries that is used again and again. Its first byte is zero. */
const scratch = Buffer.alloc(2 * PIECE_BYTES)

/** JSON escapes each byte by itself, so the pieces of a text can be escaped one after the other. */
const hashInPieces = (bytes: Buffer, start: number, ends: ArrayLike<number>, first: number): Buffer => {
  const hash = createHash('sha256').update('\0[')
  let from = start
  for (let i = 0; i < PARTS; i++) {
    const end = ends[first + i]!
    hash.update(i === 0 ? '"' : ',"')
    for (; from < end; from = Math.min(end, from + PIECE_BYTES)) {
      const piece = bytes.toString('latin1', from, Math.min(end, from + PIECE_BYTES))
      hash.update(JSON.stringify(piece).slice(1, -1), 'latin1')
    }
    hash.update('"')
  }
  return hash.update(']').digest()
}

/**
 * The leaf hash of one of several events whose parts lie one behind the other as UTF-8, and end at `ends`; those of this event from the index `first`
 * on. The bytes are not decoded: JSON escapes only ASCII characters, so the hash is that of `leafHashOf`.
 */
export const rawLeafHash = (bytes: Buffer, ends: ArrayLike<number>, first: number): Buffer => {
  const start = first === 0 ? 0 : ends[first - 1]!
  const end = ends[first + PARTS - 1]!
  if (end - start > PIECE_BYTES) return hashInPieces(bytes, start, ends, first)
  const texts = bytes.toString('latin1', start, end)
  const part = (i: number) => texts.slice((i === 0 ? start : ends[first + i - 1]!) - start, ends[first + i]! - start)
  const entry = JSON.stringify([part(0), part(1), part(2), part(3), part(4)])
  if (entry.length >= scratch.length) return hashInPieces(bytes, start, ends, first)
  scratch.write(entry, 1, 'latin1')
  return sha256(scratch.subarray(0, 1 + entry.length))
}
