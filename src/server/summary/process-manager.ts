import type pg from 'pg'
import { anchorOf } from '../../eventstore/engine/checkpoint.ts'
import { type Codec, UnknownEvent } from '../../eventstore/engine/codec.ts'
import { decodeEvent } from '../../eventstore/engine/decode-event.ts'
import { hasLogLostEvents } from '../../eventstore/engine/process-checkpoint.ts'
import type { DecodedEvent } from '../../eventstore/engine/projection.ts'
import { streamIdOf } from '../../eventstore/engine/stream.ts'
import type { EventLog, RecordedEvent } from '../../eventstore/log/log.ts'
import { writeUuid } from '../../base/uuid.ts'
import { pause } from '../../base/waits.ts'
import {
  type SummaryRule,
  type SummaryEvent,
  type TimerChange,
  type TrackedTrace,
  isRelevant,
  react,
} from './reaction.ts'
import {
  type Schedule,
  loadStates,
  moveCheckpoint,
  readCheckpoint,
  readProgress,
  saveStates,
  setNextTimers,
  setTimers,
  startOver,
} from './process-state.ts'

type ProcessManagerOptions = {
  readonly client: pg.ClientBase
  readonly log: EventLog
  readonly codec: Codec
  readonly rule: SummaryRule
  readonly attempts: number
  readonly now: () => number
  /** Called for each event that cannot be read and is ignored. */
  readonly onUnreadable: (event: RecordedEvent, error: unknown) => void
  readonly signal: AbortSignal
}

/** If no event is relevant, the checkpoint is stored only after this many events, because storing it costs a commit. */
const MAX_UNSAVED = 5_000n
/** Events that are appended within this time are handled in one transaction: a hundredth of the time that a trace has to be quiet. */
const delayOf = (debounceMs: number) => Math.min(Math.max(debounceMs / 100, 50), 500)
const FULL_BATCH = 500

const inTransaction = async <T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> => {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

type TraceFact = SummaryEvent & DecodedEvent

const scratch = Buffer.alloc(16)

const MAX_WARNED_STREAMS = 1_000

/** Logs that an event cannot be read and is ignored, once for each stream. Messages of other errors may quote content. */
export const newUnreadableLog = (logger: { warn(data: object, message: string): void }) => {
  const warned = new Set<string>()
  return ({ stream, revision, type }: RecordedEvent, error: unknown): void => {
    if (warned.has(stream)) return
    if (warned.size >= MAX_WARNED_STREAMS) warned.clear()
    warned.add(stream)
    const reason = error instanceof UnknownEvent ? error.message : 'it is damaged'
    logger.warn({ stream, revision: `${revision}`, type, reason }, 'summaries ignore an event that they cannot read')
  }
}

/** The decoded event of a trace; undefined if it cannot be read. */
const toFact = ({ codec, onUnreadable }: ProcessManagerOptions, event: RecordedEvent): TraceFact | undefined => {
  try {
    writeUuid(scratch, streamIdOf(event), 0) // throws if the stream's id is not a UUID
    return decodeEvent(codec, event) as TraceFact
  } catch (error) {
    onUnreadable(event, error)
    return undefined
  }
}

/**
 * The process manager: follows the log from its checkpoint, and stores states, timers and checkpoint in one transaction.
 * An event that cannot be read is ignored; only its own trace may lack a summary because of it.
 * Resolves after the signal, and rejects if the connection or the checkpoint is lost.
 */
export const runProcessManager = async (options: ProcessManagerOptions): Promise<void> => {
  const { client, log, rule, attempts, now, signal } = options
  const schedule = (): Schedule => ({ attempts, now: now() })
  const { epoch } = await log.identity()
  if (await hasLogLostEvents(log, await readCheckpoint(client), epoch)) await startOver(client)
  let { position: at, catchUp } = await readProgress(client, await log.head())

  const reactToAll = async (facts: readonly TraceFact[]) => {
    const states: Map<string, TrackedTrace | undefined> = await loadStates(client, [
      ...new Set(facts.map(({ streamId }) => streamId)),
    ])
    const timers = new Map<string, TimerChange>()
    for (const fact of facts) {
      const { state, timer } = react(states.get(fact.streamId), fact, rule)
      states.set(fact.streamId, state)
      if (timer) timers.set(fact.streamId, timer)
    }
    await saveStates(client, states)
    return timers
  }

  let anchor: ReturnType<typeof anchorOf>

  const apply = async (facts: readonly TraceFact[], through: bigint) => {
    await log.identity() // throws LogChanged if it is not what it was
    await inTransaction(client, async () => {
      await moveCheckpoint(client, { from: at, through, epoch, anchor })
      if (facts.length === 0) return
      const timers = await reactToAll(facts)
      if (!catchUp) await setTimers(client, timers, through, schedule())
    })
    at = through
  }

  const hasCaughtUp = (through: bigint) => catchUp !== undefined && through >= catchUp.until

  /** Sets the timers of all due traces, in many transactions, because one for a large log would exceed every timeout. */
  const endCatchUp = async () => {
    while (catchUp && !signal.aborted) {
      const { until, reached } = catchUp
      const next = await inTransaction(client, () => setNextTimers(client, reached, at, schedule()))
      catchUp = next === undefined ? undefined : { until, reached: next }
    }
  }

  if (hasCaughtUp(at)) await endCatchUp()
  for await (const { events, through } of log.follow({ after: at, signal })) {
    anchor = anchorOf(events) ?? anchor
    const relevant = events.filter(({ type }) => isRelevant(type))
    if (relevant.length === 0 && !hasCaughtUp(through) && through - at < MAX_UNSAVED) continue
    await apply(
      relevant.flatMap((event) => toFact(options, event) ?? []),
      through,
    )
    if (hasCaughtUp(at)) await endCatchUp()
    if (events.length < FULL_BATCH) await pause(delayOf(rule.debounceMs), signal)
  }
}
