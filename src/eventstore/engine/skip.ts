import type { EventLog, RecordedEvent } from '../log/log.ts'
import type { Codec } from './codec.ts'
import { foldSource } from './fold.ts'
import { QUARANTINE, QuarantineEvent, skipIdOf } from './skip-events.ts'
import type { StreamKind } from './stream.ts'
import { newTransactor } from './transact.ts'

/** The decisions about one stream: the ids of its skipped events. */
const skipDecisions: StreamKind<ReadonlySet<string>, QuarantineEvent> = {
  category: QUARANTINE,
  events: QuarantineEvent,
  initial: () => new Set(),
  evolve: (skipped, { data }) => new Set([...skipped, data.eventId]),
  sizeOf: (skipped) => 100 * (1 + skipped.size),
}

type SkipReason = { readonly stream: string; readonly eventId: string; readonly by: string; readonly why: string }

/** Skips an event, unless it is skipped already. */
const skip =
  (reason: SkipReason) =>
  (skipped: ReadonlySet<string>): QuarantineEvent[] =>
    skipped.has(reason.eventId) ? [] : [{ type: 'EventSkipped', data: reason }]

/** Searches the stream, because not every log can be read from any position. */
const eventAt = async (log: EventLog, stream: string, position: bigint): Promise<RecordedEvent> => {
  for await (const event of log.read(stream)) if (event.position === position) return event
  throw new Error(`no event of ${stream} is at position ${position}: check both with \`tracebook log quarantine\``)
}

type Skip = {
  readonly stream: string
  readonly position: bigint
  readonly by: string
  readonly why: string
  readonly now: () => number
  /** Types of events that must never be skipped, each with the harm that it would do. */
  readonly unskippable: ReadonlyMap<string, string>
}

/**
 * Records in the log that the event of a stream at a position is skipped, by whom and why, and returns the event. Runners then
 * replay the stream without it.
 * @throws Error if the stream has no event at this position, or it must not be skipped
 */
export const skipEvent = async (
  log: EventLog,
  codec: Codec,
  { stream, position, by, why, now, unskippable }: Skip,
): Promise<RecordedEvent> => {
  const event = await eventAt(log, stream, position)
  const { id: eventId } = event
  const harm = unskippable.get(event.type)
  if (harm !== undefined) throw new Error(`${harm}. Remove the cause of the failure, then replay the stream`)
  const transactor = newTransactor({
    kind: skipDecisions,
    source: foldSource(skipDecisions, log, codec),
    log,
    codec,
    now,
  })
  const decide = skip({ stream, eventId, by, why })
  await transactor.transact(skipIdOf(stream), { decide, answer: () => {} }, {})
  return event
}
