import type { NewEvent, StoredRecord } from '../log.ts'

export type OwnEvents = {
  /** Keeps events that will be appended. */
  remember(events: readonly NewEvent[]): void
  /** Adds the decoded data and metadata to an event that this process wrote; once for each event. */
  withDecoded(event: StoredRecord): StoredRecord
}

const MAX_BYTES = 4 * 1024 * 1024

const lengthOf = ({ data, metadata }: NewEvent) => data.length + metadata.length

/**
 * Spares followers from parsing events that this process has just written. The texts are compared, so it does not matter whether the
 * append succeeded. The oldest events are dropped when they exceed `maxBytes` (default 4 MiB).
 */
export const newOwnEvents = (maxBytes = MAX_BYTES): OwnEvents => {
  const events = new Map<string, NewEvent>() // by id, the oldest first
  let bytes = 0

  const drop = (event: NewEvent) => {
    if (events.delete(event.id)) bytes -= lengthOf(event)
  }

  const remember = (added: readonly NewEvent[]) => {
    for (const event of added) {
      if (!event.decoded || events.has(event.id)) continue
      events.set(event.id, event)
      bytes += lengthOf(event)
    }
    for (const event of events.values()) {
      if (bytes <= maxBytes) return
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
