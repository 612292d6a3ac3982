import { noCounts, traces } from '../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../src/server/trace/state.ts'
import { isDue, summarise } from '../../../src/server/trace/decide-summary.ts'
import { earlierFields } from '../../../src/server/trace/earlier-deletions.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'
import { type SummaryRule, type SummaryEvent, type TrackedTrace, react } from '../../../src/server/summary/reaction.ts'

/** A summary that was written: of which trace, when, and of how many messages. */
export type Written = { readonly id: string; readonly at: number; readonly messageCount: number }

type Recorded = { readonly id: string; readonly event: TraceEvent; readonly revision: bigint; readonly at: number }
type Job = { readonly runAt: number; readonly incarnation: bigint }
type Started = { readonly id: string; readonly messageCount: number; readonly deletions: number }

const created: TraceEvent = {
  type: 'TraceCreated',
  data: { externalId: 'x', namespaceId: 'n', createdBy: 'u', agentId: 'a', visibility: 'private' },
}

/** A log, a process manager and a job store in memory, under a clock that only the test moves. */
export const newWorld = (rule: SummaryRule) => {
  let now = 0
  const log: Recorded[] = []
  const states = new Map<string, { state: TraceState; revision: bigint; incarnation: bigint }>()
  const written: Written[] = []
  let rows = new Map<string, TrackedTrace>()
  let jobs = new Map<string, Job>()
  let checkpoint = 0

  const stateOf = (id: string) => states.get(id) ?? { state: traces.initial(), revision: -1n, incarnation: -1n }
  const traceOf = (id: string) => stateOf(id).state.trace
  const append = (id: string, events: readonly TraceEvent[]) => {
    for (const event of events) {
      const { state, revision, incarnation } = stateOf(id)
      const next = revision + 1n
      log.push({ id, event, revision: next, at: now })
      const life = event.type === 'TraceCreated' ? next : incarnation
      states.set(id, { state: traces.evolve(state, event, { at: now }), revision: next, incarnation: life })
    }
  }

  const add = (id: string, messages: number) => {
    if (traceOf(id).is === 'absent') append(id, [created])
    const trace = traceOf(id)
    const messageCount = (trace.is === 'present' ? trace.counts.messageCount : 0) + messages
    append(id, [{ type: 'MessagesCounted', data: { ...noCounts, messageCount } }])
  }

  const remove = (id: string) => {
    const trace = traceOf(id)
    if (trace.is === 'absent') return
    const data = {
      externalId: 'x',
      namespaceId: 'n',
      createdBy: 'u',
      createdAt: 0,
      messageCount: 0,
      ...earlierFields(trace.earlier),
    }
    append(id, [{ type: 'TraceDeleted', data }])
  }

  /** Follows the log as `runProcessManager` does; a catch-up sets no timer. */
  const follow = (isCatchUp = false) => {
    for (const { id, event, revision, at } of log.slice(checkpoint)) {
      const { state, timer } = react(rows.get(id), { ...(event as SummaryEvent), revision, at }, rule)
      if (state) rows.set(id, state)
      else rows.delete(id)
      if (isCatchUp || !timer) continue
      if (timer.is === 'cancel') jobs.delete(id)
      else jobs.set(id, { runAt: timer.runAt, incarnation: state!.incarnation })
    }
    checkpoint = log.length
  }

  /** Loses rows and jobs: the process starts without its state. */
  const forget = () => {
    rows = new Map()
    jobs = new Map()
    checkpoint = 0
    follow(true)
    for (const [id, { timer, incarnation }] of rows) if (timer) jobs.set(id, { runAt: timer.runAt, incarnation })
  }

  /** The check at a job's start, and what it reads. */
  const start = (id: string, { incarnation }: Job): Started | undefined => {
    const current = stateOf(id)
    const { trace } = current.state
    if (trace.is === 'absent' || current.incarnation !== incarnation) return undefined
    const { messageCount } = trace.counts
    if (!isDue(messageCount, trace.summary?.messageCount, rule.threshold)) return undefined
    return { id, messageCount, deletions: trace.earlier.count }
  }

  const finish = ({ id, messageCount, deletions }: Started) => {
    const events = summarise({ summary: 's', messageCount, deletions }, rule.threshold)(stateOf(id).state, now, now)
    append(id, events)
    if (events.length > 0) written.push({ id, at: now, messageCount })
  }

  const nextJob = () => [...jobs].sort(([, a], [, b]) => a.runAt - b.runAt)[0]

  /** Takes the job that is due first, as the job store hands it out: once. */
  const take = (until: number): Started | undefined | 'none' => {
    const next = nextJob()
    if (!next || next[1].runAt > until) return 'none'
    jobs.delete(next[0])
    now = Math.max(now, next[1].runAt)
    return start(...next)
  }

  /** After a job's last failure. */
  const giveUp = ({ id }: Started) => {
    const row = rows.get(id)
    if (row) rows.set(id, { ...row, timer: undefined })
  }

  const pass = (ms: number) => (now += ms)
  const dueIds = () =>
    [...states].flatMap(([id, { state }]) => {
      const { trace } = state
      if (trace.is === 'absent') return []
      return isDue(trace.counts.messageCount, trace.summary?.messageCount, rule.threshold) ? [id] : []
    })
  return {
    add,
    remove,
    follow,
    forget,
    take,
    finish,
    giveUp,
    pass,
    dueIds,
    written,
    log,
    now: () => now,
    jobs: () => jobs,
  }
}
