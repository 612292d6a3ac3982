import { erasedSince } from './erased.ts'
import type { EventLog, RecordedEvent } from '../log.ts'

/** What is copied: a log, or a file that was exported from one. Gives events of whole appends. */
export type CopySource = Pick<EventLog, 'head' | 'readAll' | 'read'>

/** The target cannot be continued. Nothing is overwritten; the message says what was found. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

/** An event as a text that must be the same in the copy: everything but revision and position. */
export const comparableText = ({ id, stream, type, metadata, data }: RecordedEvent): string =>
  JSON.stringify([id, stream, type, metadata, data])

/**
 * Compares what the target already holds with the source, event by event. Events that the source has erased since are left
 * out, and their streams are noted. `found` is called with each event of the target.
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
  /** Leaves out what the source has erased since. @throws CopyRefused for anything else */
  const leaveOut = async (present: RecordedEvent, found: string) => {
    if (await erased.note(present)) return
    const { stream } = present
    if (await erased.isBrokenOff(stream))
      throw new CopyRefused(
        `the source has erased a part of ${stream}: let its service run until \`audit erasures\` shows nothing pending, and copy again`,
      )
    throw new CopyRefused(`the target holds ${found}: ${stream}`)
  }
  /** Whether the target holds this event next; false at the target's end. @throws CopyRefused when it holds another one */
  const holds = async (event: RecordedEvent): Promise<boolean> => {
    while (!isOver) {
      const present = await next()
      if (!present) return false
      if (comparableText(present) === comparableText(event)) return true
      await leaveOut(present, 'something else')
    }
    return false
  }
  /** Compares the rest of the target with the source's end. @throws CopyRefused when it holds more than erased events */
  const finish = async () => {
    for (let present = await next(); present; present = await next()) await leaveOut(present, 'more than the source')
  }
  return { holds, finish, erase: erased.erase }
}
