import type { Row } from '../../eventstore/engine/reads.ts'
import type { Context } from '../../eventstore/engine/decide.ts'
import { toNewEvents } from '../../eventstore/engine/decide.ts'
import type { TransactResult } from '../../eventstore/engine/queued-command.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { expectedOf } from '../../eventstore/log/log.ts'
import { traceId } from '../../base/ids.ts'
import type { Quotas } from '../namespace/quotas.ts'
import { assertFits } from '../namespace/room.ts'
import { arrive, deletion, exists, traces as traceKind } from '../trace/decide.ts'
import { carrySummary } from '../trace/decide-summary.ts'
import type { Place, TraceEvent } from '../trace/events.ts'
import { type UserRole, assertMayWrite, mayWrite } from '../trace/policy.ts'
import type { TraceServices } from '../trace/services.ts'
import type { PresentTrace } from '../trace/state.ts'
import { restatedEvent } from './erase-past.ts'
import { type TraceAtEnd, newPresentTraces } from './present-traces.ts'
import { restatedMessages } from './restated-messages.ts'
import { newRestatement } from './restatement.ts'
import type { HistoryServices } from './services.ts'
import type { WholeTraces } from './whole-traces.ts'

/** Moves a trace with its sub-agents. The answer is the id that the trace has there. */
export type MoveTrace = (id: string, to: Place, writer: UserRole, context: Context) => Promise<TransactResult<string>>

type MoveServices = Pick<HistoryServices, 'reads' | 'timeline' | 'log' | 'codec'> &
  Pick<TraceServices, 'traces'> & {
    readonly quotas: Pick<Quotas, 'traces' | 'bytes'>
    /** Resolves when the read models show a position. */
    readonly caughtUp: (position: bigint) => Promise<void>
    /** The clock, in milliseconds. */
    readonly now: () => number
    readonly wholeTraces: WholeTraces
  }

/**
 * What the namespace has of a trace: nothing; a part of it, because a move has died or the trace has changed since; or all that it has now.
 */
type Arrived = 'nothing' | 'part' | 'all'

const BUSY = 'The trace is being moved: try again later'

// The event by which the present trace began, or began anew.
const arrivalStatement = `
  select type, data from entries where stream_id = $1 and type in ('TraceCreated', 'HistoryErased')
  order by position desc, place desc limit 1`

type ArrivalRow = Row & { readonly type: string; readonly data: string }

/** The types of the last event of a trace that nobody has written to since it was moved. */
const OF_A_MOVE: ReadonlySet<string> = new Set<TraceEvent['type']>(['TraceCreated', 'MessageRestated', 'HistoryErased'])

// Sub-agents of sub-agents are moved before their parents, so that a repeated request finds those that a broken off one has left. Parents may form a circle.
const familyStatement = `
  with recursive family (id, key, created_by, depth) as (
    select id, key, created_by, 0 from traces where id = $1
    union
    select k.id, k.key, k.created_by, f.depth + 1 from family f cross join lateral (
      select r.* from traces r where r.namespace_id = $2 and r.parent_key = f.key
    ) k
    where k.id <> f.id and coalesce(k.parent_kind::text, '"call"') = '"call"' and f.depth < 16
  )
  select id, created_by as "createdBy", max(depth) as depth from family group by id, created_by order by max(depth) desc, id`

type MemberOfFamily = Row & { readonly id: string; readonly createdBy: string }

/**
 * Moves traces to other namespaces: what a trace is now is restated there, in a stream of its own, and then the trace here is deleted. After a crash
 * in between both are there, and a repetition goes on: the trace there names the last event that it knows of the one here.
 */
export const newMoveTrace = (services: MoveServices): MoveTrace => {
  const { reads, timeline, log, codec, traces, quotas, now, wholeTraces, caughtUp } = services
  const present = newPresentTraces(services)

  const lastType = async (stream: string): Promise<string | undefined> => {
    for await (const { type } of log.read(stream, { backwards: true, limit: 1 })) return type
    return undefined
  }

  /** @throws Rejected exists for a trace that this one did not become, or that has changed since as this one has */
  const arrived = async (id: string, { trace, last }: TraceAtEnd): Promise<Arrived> => {
    const there = await present(id).catch((error: unknown) => {
      if (error instanceof Rejected && error.code === 'not_found') return undefined
      throw error
    })
    if (!there) return 'nothing'
    const [arrival] = await timeline.rows<ArrivalRow>('moved-arrival', arrivalStatement, [id])
    const { movedFrom } = JSON.parse(arrival?.data ?? '{}') as { movedFrom?: Place & { last?: string } }
    if (movedFrom?.namespaceId !== trace.namespaceId) throw exists(trace.externalId)
    if (movedFrom.last === last.id) return 'all'
    if (OF_A_MOVE.has((await lastType(`trace-${id}`)) ?? '')) return 'part'
    throw exists(trace.externalId)
  }

  /** Restates a trace at the end of the stream that it has there. */
  const restate = async (id: string, from: TraceAtEnd, here: Place, to: Place, context: Context): Promise<void> => {
    const stream = `trace-${id}`
    const there = await present(id)
    const { revision } = there.last
    const since = revision + 1n
    const restatement = newRestatement({ log, codec, stream, revision, at: Math.max(now(), there.at), context })
    const { trace, detail, last } = from
    const messages = { id: detail.id, namespaceId: to.namespaceId, incarnation: detail.incarnation, since }
    for await (const event of restatedMessages(reads, messages)) await restatement.add(event)
    const state: PresentTrace = { ...trace, namespaceId: to.namespaceId, earlier: there.trace.earlier }
    const movedFrom = { ...here, last: last.id }
    await restatement.finish((restated) =>
      restatedEvent(state, {
        ...restated,
        runs: [...restated.runs],
        since: Number(since),
        erased: 0,
        past: [],
        movedFrom,
      }),
    )
  }

  /** @throws WrongRevision if the trace here has changed meanwhile */
  const remove = async ({ trace, detail, at, last }: TraceAtEnd, to: Place, context: Context) => {
    const event = deletion(trace, to)
    const events = toNewEvents(traceKind, [{ event, context, at: Math.max(now(), at), ...codec.encode(event) }])
    const appended = await log.append(`trace-${detail.id}`, expectedOf(last.revision), events)
    context.noteLastEvent?.({ ...appended, id: events[0]!.id })
    return appended.position
  }

  const moveOne = async (id: string, to: Place, writer: UserRole, context: Context) => {
    const from = await present(id)
    const { trace, detail } = from
    assertMayWrite(trace, writer)
    const here: Place = { namespaceId: trace.namespaceId, slug: detail.slug ?? '' }
    const there = traceId(to.namespaceId, trace.externalId)
    const found = await arrived(there, from)
    if (found === 'nothing')
      await quotas.traces.enforce(to.namespaceId, 1, (room) => {
        const { externalId, createdBy, fields } = trace
        const decide = arrive({ externalId, createdBy, namespaceId: to.namespaceId }, fields, here, room)
        return traces.transact(there, { decide, answer: () => {} }, context)
      })
    const bytes = Number(detail.bytes)
    if (found !== 'all')
      await quotas.bytes.enforce(to.namespaceId, bytes, (room) => {
        assertFits(room, bytes)
        return traces.exclusively(there, BUSY, () => restate(there, from, here, to, context))
      })
    if (trace.summary) await traces.transact(there, { decide: carrySummary(trace), answer: () => {} }, context)
    return remove(from, to, context)
  }

  /** The trace and its sub-agents that the writer may move, the trace itself at the end. */
  const familyOf = async (id: string, namespaceId: string, writer: UserRole): Promise<readonly string[]> => {
    const family = await reads.rows<MemberOfFamily>('moved-family', familyStatement, [id, namespaceId])
    return [...family.filter((one) => one.id !== id && mayWrite(one, writer)).map((one) => one.id), id]
  }

  const moveAll = async (id: string, to: Place, writer: UserRole, context: Context) => {
    const { trace } = await present(id)
    const family = await familyOf(id, trace.namespaceId, writer)
    // Before anything is written: so that nothing is moved where one of them cannot be.
    for (const one of family) {
      const from = await present(one)
      await arrived(traceId(to.namespaceId, from.trace.externalId), from)
    }
    let position = 0n
    for (const one of family)
      position = await traces.exclusively(one, BUSY, () =>
        wholeTraces.untilDone('The trace was written to during each attempt to move it', () =>
          moveOne(one, to, writer, context),
        ),
      )
    await caughtUp(position)
    return { answer: traceId(to.namespaceId, trace.externalId), position }
  }

  return (id, to, writer, context) =>
    wholeTraces.once(`move ${id} ${to.namespaceId} ${writer.userId}`, context, (shared) =>
      moveAll(id, to, writer, shared),
    )
}
