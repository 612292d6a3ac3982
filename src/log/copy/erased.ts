import type { EventLog, RecordedEvent } from '../log.ts'

const first = async (log: EventLog, stream: string): Promise<RecordedEvent | undefined> => {
  for await (const event of log.read(stream, { limit: 1 })) return event
  return undefined
}

/**
 * Between two runs of a copy the source may have erased what the first had copied: such events are known by their
 * stream, which still exists there and now begins behind them.
 */
export const erasedSince = (from: EventLog, to: EventLog) => {
  /** By stream: the first event that the source has, and those of the target that come before it. */
  const streams = new Map<string, RecordedEvent | undefined>()

  const isErased = async ({ stream, id }: RecordedEvent): Promise<boolean> => {
    if (!streams.has(stream)) {
      const begins = await first(from, stream)
      if (!begins || begins.revision === 0n) return false
      streams.set(stream, begins)
    }
    for await (const event of from.read(stream)) if (event.id === id) return false
    return true
  }

  return {
    /** Notes an event of the target that the source does not have here. False when it was not erased there. */
    note: isErased,
    /** Erases in the target what the source has erased. */
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
