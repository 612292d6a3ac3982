import type { EventLog, RecordedEvent, Revision } from '../../eventstore/log/log.ts'
import type { TraceEvent } from './events.ts'

const ERASING: ReadonlySet<string> = new Set(['TraceDeleted', 'HistoryErased'] satisfies TraceEvent['type'][])

/** Whether an event erases everything before it in its stream, or before the messages that it restates. */
export const erases = ({ type }: Pick<RecordedEvent, 'type'>): boolean => ERASING.has(type)

/**
 * The revision before which everything in the stream of an erasing event (`erases`) is erased. For an erased past the restated messages are
 * read to find it, because in a copy of a log they may have other revisions than the event says.
 * @throws Error if not all of these messages are in the log
 */
export const erasedBefore = async (log: Pick<EventLog, 'read'>, event: RecordedEvent): Promise<Revision> => {
  const { type, stream, revision, firstRevision = revision, data } = event
  if (type === 'TraceDeleted') return revision
  const { messageCount } = JSON.parse(data) as { messageCount: number }
  let [before, left] = [firstRevision, messageCount]
  if (left === 0) return before
  for await (const restated of log.read(stream, { from: firstRevision - 1n, backwards: true, limit: left })) {
    if (restated.type !== 'MessageRestated') break
    before = restated.firstRevision ?? restated.revision
    left -= 1
  }
  if (left > 0)
    throw new Error(`${left} of the messages that ${stream} restates before revision ${revision} are missing`)
  return before
}
