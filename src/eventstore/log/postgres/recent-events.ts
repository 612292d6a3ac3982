import { newChangeCounter } from '../change-counter.ts'
import type { Position, StoredRecord, Revision } from '../log.ts'
import { PAGE_BYTES, PAGE_EVENTS } from './reader.ts'

/** One follower of the recent events. */
type RecentEventsReader = {
  /**
   * The events after a position; none if the position is known to be the log's end; undefined if the log itself has to be
   * read.
   */
  eventsAfter(position: Position): readonly StoredRecord[] | undefined
  /** Notes that a read of the log that began at this count has found no more events. */
  reachedEnd(count: number): void
  leave(): void
}

type RecentEvents = {
  /** Adds a batch that was just committed. Has to be called in the order of commits. */
  publish(events: readonly StoredRecord[]): void
  /** Adds a follower. Batches that all followers have read are dropped. */
  read(): RecentEventsReader
  /** Drops all events, because another process has erased some of them. */
  clear(): void
  /** Drops the events of a stream before a revision, which were just erased. */
  drop(stream: string, before: Revision): void
  /** Notes that another process may have appended, and wakes the followers. */
  wake(): void
  /** The count of changes. Taken before a read, it shows later whether there may be newer events. */
  count(): number
  /** Waits until the count is not `since` any more, at most `timeoutMs` or until abort. Returns whether it has changed. */
  changed(since: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>
}

const EVENT_BYTES = 200 // about how many bytes an event takes in memory besides its texts

/** About how many bytes of memory events take. */
const sizeOf = (events: readonly StoredRecord[]) =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length + EVENT_BYTES, 0)

/**
 * The newest batches that this process has committed, without gaps, up to `maxBytes`, and only those that a follower has not read:
 * followers get them from memory instead of the database.
 */
export const newRecentEvents = (maxBytes: number): RecentEvents => {
  let batches: { events: readonly StoredRecord[]; bytes: number }[] = []
  let bytes = 0
  let end: Position | undefined // the last position of this process's appends
  let foreignCount = 0 // the count when another process last may have appended
  const { count, increment, changed } = newChangeCounter()
  const readers = new Map<RecentEventsReader, Position>()

  const wake = () => {
    foreignCount = count() + 1
    increment()
  }

  const clear = () => {
    batches = []
    bytes = 0
  }

  const drop = (stream: string, before: Revision) => {
    const stays = (event: StoredRecord) => event.stream !== stream || event.revision >= before
    batches = batches.flatMap((batch) => {
      const events = batch.events.filter(stays)
      return events.length > 0 ? [{ events, bytes: sizeOf(events) }] : []
    })
    bytes = batches.reduce((sum, batch) => sum + batch.bytes, 0)
  }

  const publish = (events: readonly StoredRecord[]) => {
    const last = batches.at(-1)?.events.at(-1)
    // Another process has appended in between: with the earlier batches there would be a gap.
    if (last && events[0]!.position !== last.position + 1n) clear()
    const size = sizeOf(events)
    batches.push({ events, bytes: size })
    bytes += size
    while (bytes > maxBytes && batches.length > 1) bytes -= batches.shift()!.bytes
    end = events.at(-1)!.position
    increment()
  }

  const isPassed = ({ events }: { events: readonly StoredRecord[] }) => {
    const last = events.at(-1)!.position
    return [...readers.values()].every((position) => position >= last)
  }

  const eventsAfter = (position: Position) => {
    const first = batches[0]?.events[0]
    if (!first || first.position > position + 1n) return undefined
    // From the end: a follower that lags keeps many batches here, and the others have read all but the last.
    const start = batches.findLastIndex(({ events }) => events.at(-1)!.position <= position) + 1
    if (start === batches.length) return undefined
    const found: StoredRecord[] = []
    let size = 0
    for (let i = start; i < batches.length && found.length < PAGE_EVENTS && size < PAGE_BYTES; i++) {
      size += batches[i]!.bytes
      for (const event of batches[i]!.events) if (event.position > position) found.push(event)
    }
    return found
  }

  const read = (): RecentEventsReader => {
    let lastRead = -1 // the count when the last read of the log began that has found its end
    const reader: RecentEventsReader = {
      eventsAfter: (position) => {
        readers.set(reader, position)
        while (batches.length > 0 && isPassed(batches[0]!)) bytes -= batches.shift()!.bytes
        // The notification of another process may come before the answer to an older append of this one: only a read that
        // began after the notification proves that `end` is the end.
        const found = position === end && lastRead >= foreignCount ? [] : eventsAfter(position)
        if (!found) readers.delete(reader) // it is so far behind that it reads the log, and needs no batches
        return found
      },
      reachedEnd: (count) => void (lastRead = count),
      leave: () => void readers.delete(reader),
    }
    return reader
  }

  return { publish, read, clear, drop, wake, count, changed }
}
