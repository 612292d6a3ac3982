import { v5 } from 'uuid'
import type { NewEvent, RecordedEvent, StoredRecord } from './log.ts'
import { metadataOf } from './metadata.ts'

/**
 * An event whose data exceeds the adapter's limit is stored as chunks: records of type `Chunk` whose data is a JSON string
 * with a slice of the event's data. All have the event's `append` in their metadata. The last one has also the event's id, type and
 * metadata, and its revision and position are those of the event.
 */
type ChunkMark = { index: number; size: number; event?: { id: string; type: string; metadata: string } }

const CHUNK = 'Chunk'
const MAX_BYTES_PER_CHARACTER = 3

const chunkMark = (record: NewEvent): ChunkMark => (metadataOf(record) as unknown as { chunk: ChunkMark }).chunk

/** The size of an event's data in bytes of UTF-8, as the limits of adapters count. */
export const dataBytes = (event: NewEvent): number => Buffer.byteLength(event.data)

/** The event itself if it is small enough, otherwise its chunks. */
export const toRecords = (event: NewEvent, maxBytes: number): NewEvent[] => {
  if (dataBytes(event) <= maxBytes) return [event]
  const step = Math.max(1, Math.floor((maxBytes - 16) / MAX_BYTES_PER_CHARACTER))
  const size = Math.ceil(event.data.length / step)
  const { append, at, schema } = metadataOf(event)
  return Array.from({ length: size }, (_, index) => {
    const last = index === size - 1 ? { event: { id: event.id, type: event.type, metadata: event.metadata } } : {}
    return {
      id: index === size - 1 ? event.id : v5(String(index), event.id), // a retry has to use the same ids
      type: CHUNK,
      data: JSON.stringify(event.data.slice(index * step, (index + 1) * step)),
      metadata: JSON.stringify({ at, schema, append, chunk: { index, size, ...last } }),
    }
  })
}

/** Puts chunks together. The event gets revision and position of its last chunk, and is left out if a chunk is missing. */
export const fromRecords = (records: readonly StoredRecord[]): RecordedEvent[] => {
  if (records.every((record) => record.type !== CHUNK)) return records as StoredRecord[]
  const events: RecordedEvent[] = []
  let slices: string[] = []
  for (const record of records) {
    if (record.type !== CHUNK) events.push(record)
    else {
      const { index, size, event } = chunkMark(record)
      if (index === 0) slices = []
      slices.push(JSON.parse(record.data) as string)
      if (!event || slices.length !== size) continue
      const firstRevision = record.revision - BigInt(size - 1)
      events.push({ ...record, ...event, data: slices.join(''), firstRevision })
    }
  }
  return events
}

/** How many records of the same event come before this one. */
export const chunksBefore = (record: NewEvent): number => (record.type === CHUNK ? chunkMark(record).index : 0)

/** Whether a record is the last one of its event: the last chunk, or the event itself. */
export const endsEvent = (record: NewEvent): boolean => record.type !== CHUNK || chunkMark(record).event !== undefined

/** Whether a record is the first or the last of its append. All chunks of an event have the same `append` in their metadata. */
export const opensAppend = (record: NewEvent): boolean =>
  metadataOf(record).append.index === 0 && chunksBefore(record) === 0
export const closesAppend = (record: NewEvent): boolean => {
  const { index, size } = metadataOf(record).append
  return index === size - 1 && endsEvent(record)
}
