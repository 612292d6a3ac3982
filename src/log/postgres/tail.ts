import type { Position, RecordedEvent, Revision } from '../log.ts'
import { newVersion } from '../change-counter.ts'

/** A follower's place in the log. */
export type Reader = {
  /**
   * Fresh events straight after a position; none when it is the end, as far as is known here; undefined when only the
   * log itself can tell.
   */
  after(position: Position): readonly RecordedEvent[] | undefined
  /** Says that a look into the log, begun at this version, has found nothing more. */
  reachedEnd(version: number): void
  leave(): void
}

export type Tail = {
  /** Takes a batch that has just been committed, in the order of commits. */
  publish(events: readonly RecordedEvent[]): void
  /** What all readers have passed is let go of. */
  read(): Reader
  /** Lets go of everything: some of it has been erased from the log. */
  forget(): void
  /** Lets go of what has just been erased: the events of a stream before a revision. */
  erased(stream: string, before: Revision): void
  /** Begins anew: the log is in another epoch. */
  restart(): void
  /** Says that another process may have written. */
  wake(): void
  /** Counts wake-ups: what has been seen before a look cannot be missed after it. */
  version(): number
  /** Whether the version has moved on; false after `timeoutMs` and on abort. */
  changed(since: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>
}

const PAGE_EVENTS = 1_000
const PAGE_BYTES = 8 * 1024 * 1024

const weight = (event: RecordedEvent) => event.data.length + event.metadata.length + 200
const weigh = (events: readonly RecordedEvent[]) => events.reduce((sum, event) => sum + weight(event), 0)

/** The newest committed batches of this process that some reader still has before it, contiguous, up to `maxBytes`. */
export const newTail = (maxBytes: number): Tail => {
  let batches: { events: readonly RecordedEvent[]; bytes: number }[] = []
  let bytes = 0
  let end: Position | undefined // of the log, unless somebody else has written
  let foreign = 0 // the version at the last word of somebody else
  const { now: version, move, changed } = newVersion()
  const readers = new Map<Reader, Position>()

  const wake = () => {
    foreign = version() + 1
    move()
  }

  const forget = () => {
    batches = []
    bytes = 0
  }

  const erased = (stream: string, before: Revision) => {
    const stays = (event: RecordedEvent) => event.stream !== stream || event.revision >= before
    batches = batches.flatMap((batch) => {
      const events = batch.events.filter(stays)
      return events.length > 0 ? [{ events, bytes: weigh(events) }] : []
    })
    bytes = batches.reduce((sum, batch) => sum + batch.bytes, 0)
  }

  const restart = () => {
    forget()
    end = undefined
    wake()
  }

  const publish = (events: readonly RecordedEvent[]) => {
    const last = batches.at(-1)?.events.at(-1)
    // Another process may have written in between: what is held then no longer reaches the end.
    if (last && events[0]!.position !== last.position + 1n) forget()
    const size = weigh(events)
    batches.push({ events, bytes: size })
    bytes += size
    while (bytes > maxBytes && batches.length > 1) bytes -= batches.shift()!.bytes
    end = events.at(-1)!.position
    move()
  }

  const isPassed = ({ events }: { events: readonly RecordedEvent[] }) => {
    const last = events.at(-1)!.position
    return [...readers.values()].every((position) => position >= last)
  }

  const after = (position: Position) => {
    const first = batches[0]?.events[0]
    if (!first || first.position > position + 1n) return undefined
    const start = batches.findIndex(({ events }) => events.at(-1)!.position > position)
    if (start < 0) return undefined
    const found: RecordedEvent[] = []
    let size = 0
    for (let i = start; i < batches.length && found.length < PAGE_EVENTS && size < PAGE_BYTES; i++) {
      size += batches[i]!.bytes
      for (const event of batches[i]!.events) if (event.position > position) found.push(event)
    }
    return found
  }

  const read = (): Reader => {
    let looked = -1
    const reader: Reader = {
      after: (position) => {
        readers.set(reader, position)
        while (batches.length > 0 && isPassed(batches[0]!)) bytes -= batches.shift()!.bytes
        // Somebody's word may come before the answer to an older append of ours: only a look after it is proof.
        return position === end && looked >= foreign ? [] : after(position)
      },
      reachedEnd: (version) => void (looked = version),
      leave: () => void readers.delete(reader),
    }
    return reader
  }

  return { publish, read, forget, erased, restart, wake, version, changed }
}
