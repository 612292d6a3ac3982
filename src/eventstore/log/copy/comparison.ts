import type { EventLog, RecordedEvent } from '../log.ts'

/** The source of a copy: a log, or a file that was exported from one. Returns events of whole appends. */
export type CopySource = Pick<EventLog, 'head' | 'readAll' | 'read'>

/** The copy cannot continue. Nothing is overwritten. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

/** An event as a text that must be equal in the copy: everything except its revision and position. */
export const comparableText = ({ id, stream, type, metadata, data }: RecordedEvent): string =>
  JSON.stringify([id, stream, type, metadata, data])

type Readable = Pick<EventLog, 'read'>

const first = async (log: Readable, stream: string): Promise<RecordedEvent | undefined> => {
  for await (const event of log.read(stream, { limit: 1 })) return event
  return undefined
}

/** Finds events that the source has erased since an earlier run copied them: in the source their streams begin with a later event. */
const erasedSince = (from: Readable, to: EventLog) => {
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

/**
 * Compares the events in the target with the source, one by one. Events that the source has erased since an earlier copy are left out, and their
 * streams are noted. `found` is called with each event of the target.
 */
export const newComparison = (from: CopySource, to: EventLog, found: (event: RecordedEvent) => void) => {
  const existing = to.readAll({ after: 0n })[Symbol.asyncIterator]()
  const erased = erasedSince(from, to)
  let isOver = false
  const next = async (): Promise<RecordedEvent | undefined> => {
    const result = await existing.next()
    if (result.done) {
      isOver = true
      return undefined
    }
    found(result.value)
    return result.value
  }
  /** Leaves out an event that the source has erased since. @throws CopyRefused for any other event */
  const leaveOut = async (existing: RecordedEvent, difference: string) => {
    if (await erased.note(existing)) return
    const { stream } = existing
    if (await erased.isBrokenOff(stream))
      throw new CopyRefused(
        `the source has erased a part of ${stream}: let its service run until \`audit erasures\` shows nothing pending, and copy again`,
      )
    throw new CopyRefused(`the target ${difference}: stream ${stream}. Copy to an empty target`)
  }
  /** Whether the next event of the target is this one; false at the end of the target. @throws CopyRefused if it is another one */
  const holds = async (event: RecordedEvent): Promise<boolean> => {
    while (!isOver) {
      const existing = await next()
      if (!existing) return false
      if (comparableText(existing) === comparableText(event)) return true
      await leaveOut(existing, 'has an event that the source does not have there')
    }
    return false
  }
  /** Compares the rest of the target with the source's end. @throws CopyRefused if it has more than erased events */
  const finish = async () => {
    for (let existing = await next(); existing; existing = await next())
      await leaveOut(existing, 'has more events than the source')
  }
  return { holds, finish, erase: erased.erase }
}
