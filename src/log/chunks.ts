import { v5 } from 'uuid'
import type { NewEvent, RecordedEvent } from './log.ts'
import { metadataOf } from './metadata.ts'

/**
 * A body over the adapter's limit travels as chunks: records of type `Chunk` whose data is a JSON string, a slice of
 * the body's text. All carry the append mark of their event; the last one also its id, type and metadata.
 */
type ChunkMark = { index: number; size: number; event?: { id: string; type: string; metadata: string } }

const CHUNK = 'Chunk'
const MAX_BYTES_PER_CHARACTER = 3

const chunkMark = (record: NewEvent): ChunkMark => (metadataOf(record) as unknown as { chunk: ChunkMark }).chunk

/** Bytes of an event's data, as limits count them. */
export const bytesOf = (event: NewEvent): number => Buffer.byteLength(event.data)

/** The event itself when it fits, otherwise its chunks. */
export const toRecords = (event: NewEvent, maxBytes: number): NewEvent[] => {
  if (bytesOf(event) <= maxBytes) return [event]
  const step = Math.max(1, Math.floor((maxBytes - 16) / MAX_BYTES_PER_CHARACTER))
  const size = Math.ceil(event.data.length / step)
  const { append, at, schema } = metadataOf(event)
  return Array.from({ length: size }, (_, index) => {
    const last = index === size - 1 ? { event: { id: event.id, type: event.type, metadata: event.metadata } } : {}
    return {
      id: index === 0 ? event.id : v5(String(index), event.id), // the same again in a retry
      type: CHUNK,
      data: JSON.stringify(event.data.slice(index * step, (index + 1) * step)),
      metadata: JSON.stringify({ at, schema, append, chunk: { index, size, ...last } }),
    }
  })
}

/** Puts records together again: a chunked event stands where its last chunk stands, and is left out if one is missing. */
export const fromRecords = (records: readonly RecordedEvent[]): RecordedEvent[] => {
  if (records.every((record) => record.type !== CHUNK)) return records as RecordedEvent[]
  const events: RecordedEvent[] = []
  let slices: string[] = []
  for (const record of records) {
    if (record.type !== CHUNK) events.push(record)
    else {
      const { index, size, event } = chunkMark(record)
      if (index === 0) slices = []
      slices.push(JSON.parse(record.data) as string)
      if (event && slices.length === size) events.push({ ...record, ...event, data: slices.join('') })
    }
  }
  return events
}

/** How many records of the same event stand before this one. */
export const chunksBefore = (record: NewEvent): number => (record.type === CHUNK ? chunkMark(record).index : 0)

/** Whether a record is the end of an event, its last chunk or the event itself. */
export const endsEvent = (record: NewEvent): boolean => record.type !== CHUNK || chunkMark(record).event !== undefined

/** Whether a record opens or closes its append. The mark is the same for all chunks of an event. */
export const opens = (record: NewEvent): boolean => metadataOf(record).append.index === 0 && chunksBefore(record) === 0
export const closes = (record: NewEvent): boolean => {
  const { index, size } = metadataOf(record).append
  return index === size - 1 && endsEvent(record)
}
