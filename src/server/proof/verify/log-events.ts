import type { EventLog, RecordedEvent } from '../../../eventstore/log/log.ts'
import { metadataOf } from '../../../eventstore/log/metadata.ts'
import { leafHashOf } from '../entry.ts'
import { type EventSource, type HashedEvent, sinceIn } from './hashed-event.ts'

const BATCH = 1_000

const toHashed = (event: RecordedEvent, completedAt: bigint): HashedEvent => {
  const { id, stream, revision, position, type } = event
  return {
    id,
    stream,
    revision,
    position,
    type,
    hash: leafHashOf(event),
    completedAt,
    ...sinceIn(type, () => event.data),
  }
}

/** Yields events by whole appends. Erased events are missing. */
async function* hashedAppends(
  events: AsyncIterable<RecordedEvent>,
  upTo?: bigint,
): AsyncGenerator<readonly HashedEvent[]> {
  let append: RecordedEvent[] = []
  let batch: HashedEvent[] = []
  for await (const event of events) {
    if (upTo !== undefined && append.length === 0 && event.position > upTo) break
    append.push(event)
    const { index, size } = metadataOf(event).append
    if (index < size - 1) continue
    for (const one of append) batch.push(toHashed(one, event.position))
    append = []
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  yield batch
}

/** The events of any log, through its port. The log must return whole appends. */
export const logEvents = (log: EventLog): EventSource => ({
  logId: async () => (await log.identity()).id,
  head: log.head,
  events: (upTo) => hashedAppends(log.readAll({ after: 0n }), upTo),
  ofStream: (stream) => hashedAppends(log.read(stream)),
  close: log.close,
})
