import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Codec } from '../engine/codec.ts'
import { anchorOf, happened } from '../engine/apply.ts'
import { isLost } from '../engine/process-checkpoint.ts'
import type { Happened } from '../engine/projection.ts'
import { idOf } from '../engine/stream.ts'
import { type EventLog, LogChanged, type RecordedEvent } from '../log/log.ts'
import { writeUuid } from '../uuid.ts'
import { type Rule, type SummaryEvent, type TimerChange, type Tracked, isRelevant, react } from './react.ts'
import { type Schedule, advance, endFoldStep, load, progress, reachedBy, save, setTimers, startOver } from './rows.ts'

export type ManagerOptions = {
  readonly client: pg.ClientBase
  readonly log: EventLog
  readonly codec: Codec
  readonly rule: Rule
  readonly attempts: number
  readonly now: () => number
  /** Told of an event that cannot be read; it is left out. */
  readonly unreadable: (event: RecordedEvent, error: unknown) => void
  readonly signal: AbortSignal
}

/** Events that do not matter here move the checkpoint only now and then. */
const MAX_BEHIND = 5_000n
/** Writers are many: what they write within this time is taken in together. */
const GATHER_MS = 50
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

type Fact = SummaryEvent & Happened

const scratch = Buffer.alloc(16)

/** An event as a fact about a trace; nothing when it cannot be read. */
const factOf = ({ codec, unreadable }: ManagerOptions, event: RecordedEvent): Fact | undefined => {
  try {
    writeUuid(scratch, idOf(event), 0) // throws where it is none of our traces
    return happened(codec, event) as Fact
  } catch (error) {
    unreadable(event, error)
    return undefined
  }
}

/**
 * The process manager: follows the log from its checkpoint and moves rows, timers and checkpoint in one transaction.
 * An event that cannot be read is left out: it may cost its own trace a summary, and nobody else's.
 * Ends with the signal; throws when its connection or the checkpoint is lost.
 */
export const manage = async (options: ManagerOptions): Promise<void> => {
  const { client, log, rule, attempts, now, signal } = options
  const schedule = (): Schedule => ({ attempts, now: now() })
  const { epoch } = await log.identity()
  if (await isLost(log, await reachedBy(client), epoch)) await startOver(client)
  let { position: at, fold } = await progress(client, await log.head())

  const reactAll = async (facts: readonly Fact[]) => {
    const states: Map<string, Tracked | undefined> = await load(client, [...new Set(facts.map(({ of }) => of))])
    const timers = new Map<string, TimerChange>()
    for (const fact of facts) {
      const { state, timer } = react(states.get(fact.of), fact, rule)
      states.set(fact.of, state)
      if (timer) timers.set(fact.of, timer)
    }
    await save(client, states)
    return timers
  }

  let anchor: ReturnType<typeof anchorOf>

  const apply = async (facts: readonly Fact[], through: bigint) => {
    if ((await log.identity()).epoch !== epoch) throw new LogChanged()
    await inTransaction(client, async () => {
      await advance(client, { from: at, through, epoch, anchor })
      if (facts.length === 0) return
      const timers = await reactAll(facts)
      if (!fold) await setTimers(client, timers, through, schedule())
    })
    at = through
  }

  const isFolded = (through: bigint) => fold !== undefined && through >= fold.until

  /** In small transactions: all at once, the traces of a large log would exceed every timeout. */
  const endFold = async () => {
    while (fold && !signal.aborted) {
      const { until, reached } = fold
      const next = await inTransaction(client, () => endFoldStep(client, reached, at, schedule()))
      fold = next === undefined ? undefined : { until, reached: next }
    }
  }

  if (isFolded(at)) await endFold()
  for await (const { events, through } of log.follow({ after: at, signal })) {
    anchor = anchorOf(events) ?? anchor
    const relevant = events.filter(({ type }) => isRelevant(type))
    if (relevant.length === 0 && !isFolded(through) && through - at < MAX_BEHIND) continue
    await apply(
      relevant.flatMap((event) => factOf(options, event) ?? []),
      through,
    )
    if (isFolded(at)) await endFold()
    if (events.length < FULL_BATCH) await setTimeout(GATHER_MS, undefined, { signal }).catch(() => {})
  }
}
