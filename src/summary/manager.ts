import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Codec } from '../engine/codec.ts'
import { happened } from '../engine/apply.ts'
import type { EventLog, RecordedEvent } from '../log/log.ts'
import { type Rule, type SummaryEvent, type TimerChange, isRelevant, react } from './react.ts'
import { type Schedule, advance, endFold, load, progress, save, setTimers } from './rows.ts'

export type ManagerOptions = {
  readonly client: pg.ClientBase
  readonly log: EventLog
  readonly codec: Codec
  readonly rule: Rule
  readonly attempts: number
  readonly now: () => number
  readonly signal: AbortSignal
}

/** Events that do not matter here move the checkpoint only now and then. */
const MAX_BEHIND = 5_000n
/** Writers are many: what they write within this time is taken in together. */
const GATHER_MS = 50
const FULL_BATCH = 500

/** Another process follows the log as well. Whoever notices stops. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved'
}

const inTransaction = async (client: pg.ClientBase, work: () => Promise<void>) => {
  await client.query('begin')
  try {
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/**
 * The process manager: follows the log from its checkpoint and moves rows, timers and checkpoint in one transaction.
 * Ends with the signal; throws when its connection or the checkpoint is lost.
 */
export const manage = async (options: ManagerOptions): Promise<void> => {
  const { client, log, codec, rule, attempts, now, signal } = options
  const schedule = (): Schedule => ({ attempts, now: now() })
  let { position: at, foldUntil } = await progress(client, await log.head())

  const reactAll = async (events: readonly RecordedEvent[]) => {
    const facts = events.map((event) => happened(codec, event))
    const states = new Map((await load(client, [...new Set(facts.map(({ of }) => of))])).entries()) as Map<
      string,
      ReturnType<typeof react>['state']
    >
    const timers = new Map<string, TimerChange>()
    for (const fact of facts) {
      const { state, timer } = react(states.get(fact.of), fact as SummaryEvent & typeof fact, rule)
      states.set(fact.of, state)
      if (timer) timers.set(fact.of, timer)
    }
    await save(client, states)
    return timers
  }

  const apply = async (events: readonly RecordedEvent[], through: bigint) => {
    const endsFold = foldUntil !== undefined && through >= foldUntil
    await inTransaction(client, async () => {
      if (!(await advance(client, at, through))) throw new CheckpointMoved()
      const timers = events.length > 0 ? await reactAll(events) : new Map<string, TimerChange>()
      if (endsFold) await endFold(client, through, schedule())
      else if (foldUntil === undefined) await setTimers(client, timers, through, schedule())
    })
    at = through
    if (endsFold) foldUntil = undefined
  }

  if (foldUntil !== undefined && at >= foldUntil) await apply([], at)
  for await (const { events, through } of log.follow({ after: at, signal })) {
    const relevant = events.filter(({ type }) => isRelevant(type))
    const endsFold = foldUntil !== undefined && through >= foldUntil
    if (relevant.length === 0 && !endsFold && through - at < MAX_BEHIND) continue
    await apply(relevant, through)
    if (events.length < FULL_BATCH) await setTimeout(GATHER_MS, undefined, { signal }).catch(() => {})
  }
}
