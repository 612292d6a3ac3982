import type { NewEvent, StoredRecord } from '../log.ts'

export type OwnEvents = {
  /** Keeps events that are about to be appended. */
  remember(events: readonly NewEvent[]): void
  /** Adds the decoded data and metadata to an event that was read, if this process wrote it; once for each event. */
  withDecoded(event: StoredRecord): StoredRecord
}

const MAX_BYTES = 4 * 1024 * 1024

const weightOf = ({ data, metadata }: NewEvent) => data.length + metadata.length

/**
 * Spares followers from parsing what this process has just written. The texts are compared, so that it does not matter
 * whether the append succeeded. The oldest events are dropped when they exceed `maxBytes` (default 4 MiB).
 */
export const newOwnEvents = (maxBytes = MAX_BYTES): OwnEvents => {
  const events = new Map<string, NewEvent>() // by id, the oldest first
  let weight = 0

  const drop = (event: NewEvent) => {
    if (events.delete(event.id)) weight -= weightOf(event)
  }

  const remember = (added: readonly NewEvent[]) => {
    for (const event of added) {
      if (!event.decoded || events.has(event.id)) continue
      events.set(event.id, event)
      weight += weightOf(event)
    }
    for (const event of events.values()) {
      if (weight <= maxBytes) return
      drop(event)
    }
  }

  const withDecoded = (event: StoredRecord): StoredRecord => {
    const own = events.get(event.id)
    if (!own) return event
    drop(own)
    const isSame = own.type === event.type && own.data === event.data && own.metadata === event.metadata
    return isSame ? { ...event, decoded: own.decoded! } : event
  }

  return { remember, withDecoded }
}
