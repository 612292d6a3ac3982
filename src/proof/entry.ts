import type { RecordedEvent } from '../log/log.ts'
import { leafHash } from './tree.ts'

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
