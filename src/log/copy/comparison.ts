import { erasedSince } from './erased.ts'
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
