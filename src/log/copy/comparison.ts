import { erasedSince } from './erased.ts'
import type { EventLog, RecordedEvent } from '../log.ts'

/** What a copy cannot go on from. Nothing is overwritten: the message says what was found. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

/** What must be the same in a copy. */
export const essenceOf = ({ id, stream, type, metadata, data }: RecordedEvent): string =>
  JSON.stringify([id, stream, type, metadata, data])

/**
 * Compares what the target already holds with the source, event by event; what the source has erased since is passed
 * over, and its streams are noted. @throws CopyRefused when the target holds anything else
 */
export const newComparison = (from: EventLog, to: EventLog, held: (event: RecordedEvent) => void) => {
  const existing = to.readAll({ after: 0n })[Symbol.asyncIterator]()
  const erased = erasedSince(from, to)
  let isOver = false
  const next = async (): Promise<RecordedEvent | undefined> => {
    const found = await existing.next()
    if (found.done) {
      isOver = true
      return undefined
    }
    held(found.value)
    return found.value
  }
  /** Whether the target holds this event, next in order. */
  const holds = async (event: RecordedEvent): Promise<boolean> => {
    while (!isOver) {
      const found = await next()
      if (!found) return false
      if (essenceOf(found) === essenceOf(event)) return true
      if (!(await erased.note(found))) throw new CopyRefused(`the target holds something else: ${found.stream}`)
    }
    return false
  }
  const rest = async () => {
    for (let found = await next(); found; found = await next())
      if (!(await erased.note(found))) throw new CopyRefused(`the target holds more than the source: ${found.stream}`)
  }
  return { holds, rest, erase: erased.erase }
}
