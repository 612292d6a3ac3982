import type { NewEvent, RecordedEvent } from '../log.ts'

export type OwnEvents = {
  /** Keeps in mind what is about to be appended. */
  sent(events: readonly NewEvent[]): void
  /** The event as it was read, with what its texts parse to when this process wrote them; once for each event. */
  recognised(event: RecordedEvent): RecordedEvent
}

const KEPT_BYTES = 4 * 1024 * 1024

const weightOf = ({ data, metadata }: NewEvent) => data.length + metadata.length

/**
 * Followers read what this process itself has just written: they need not parse it again. The texts are compared, so it
 * does not matter what became of the append. What is not read soon is let go of.
 */
export const newOwnEvents = (maxBytes = KEPT_BYTES): OwnEvents => {
  const kept = new Map<string, NewEvent>() // by id, the oldest first
  let weight = 0

  const drop = (event: NewEvent) => {
    if (kept.delete(event.id)) weight -= weightOf(event)
  }

  const sent = (events: readonly NewEvent[]) => {
    for (const event of events) {
      if (!event.decoded || kept.has(event.id)) continue
      kept.set(event.id, event)
      weight += weightOf(event)
    }
    for (const event of kept.values()) {
      if (weight <= maxBytes) return
      drop(event)
    }
  }

  const recognised = (event: RecordedEvent): RecordedEvent => {
    const own = kept.get(event.id)
    if (!own) return event
    drop(own)
    const isSame = own.type === event.type && own.data === event.data && own.metadata === event.metadata
    return isSame ? { ...event, decoded: own.decoded! } : event
  }

  return { sent, recognised }
}
