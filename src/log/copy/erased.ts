import type { EventLog, RecordedEvent } from '../log.ts'

type Readable = Pick<EventLog, 'read'>

const first = async (log: Readable, stream: string): Promise<RecordedEvent | undefined> => {
  for await (const event of log.read(stream, { limit: 1 })) return event
  return undefined
}

/** Finds events that the source has erased since an earlier run copied them: in the source their streams begin with a later event. */
export const erasedSince = (from: Readable, to: EventLog) => {
  /** By stream: the first event in the source. */
  const streams = new Map<string, RecordedEvent | undefined>()

  const note = async ({ stream, id }: RecordedEvent): Promise<boolean> => {
    if (!streams.has(stream)) {
      const begins = await first(from, stream)
      if (!begins || begins.revision === 0n) return false
      streams.set(stream, begins)
    }
    for await (const event of from.read(stream)) if (event.id === id) return false
    return true
  }

  return {
    /** Whether the source lacks events in the middle of a stream, because an erasure, which deletes from the end, was interrupted. */
    isBrokenOff: async (stream: string): Promise<boolean> => {
      let next = 0n
      for await (const { revision, firstRevision = revision } of from.read(stream)) {
        if (firstRevision !== next) return true
        next = revision + 1n
      }
      return false
    },
    /** Notes the stream of an event that only the target has. Returns false if the source has not erased the event. */
    note,
    /** Erases in the target the events that the source has erased in the noted streams. */
    erase: async () => {
      for (const [stream, begins] of streams)
        for await (const event of to.read(stream))
          if (event.id === begins!.id) {
            await to.truncate(stream, event.revision)
            break
          }
    },
  }
}
