import type { Row } from '../../eventstore/engine/reads.ts'
import { type Context, toNewEvents } from '../../eventstore/engine/decide.ts'
import type { TransactResult } from '../../eventstore/engine/queued-command.ts'
import { Rejected, hiddenNotFound } from '../../eventstore/engine/rejected.ts'
import { type Revision, WrongRevision, expectedOf } from '../../eventstore/log/log.ts'
import type { Role } from '../../contract/namespaces.ts'
import { keyHash, traceId } from '../../base/ids.ts'
import { namespaceById } from '../namespace/queries.ts'
import type { Quotas } from '../namespace/quotas.ts'
import { assertFits } from '../namespace/room.ts'
import { exists } from '../trace/arriving.ts'
import { arrive, traces as traceKind, withdraw } from '../trace/decide.ts'
import { deletion } from '../trace/deletion.ts'
import { carrySummary } from '../trace/decide-summary.ts'
import { type Earlier, NO_EARLIER } from '../trace/earlier-deletions.ts'
import type { Origin, Place, TraceEvent } from '../trace/events.ts'
import { type UserRole, assertMayWrite, mayWrite } from '../trace/policy.ts'
import type { TraceServices } from '../trace/services.ts'
import { traceSource } from '../trace/source.ts'
import type { Trace, TraceState } from '../trace/state.ts'
import { restatedEvent } from './erase-past.ts'
import { type TraceAtEnd, newPresentTraces } from './present-traces.ts'
import { restatedMessages } from './restated-messages.ts'
import { newRestatement } from './restatement.ts'
import type { HistoryServices } from './services.ts'
import type { WholeTraces } from './whole-traces.ts'

/** A trace that is to be moved, by its id and its name. */
type Named = { readonly id: string; readonly externalId: string }

/** Moves a trace with its sub-agents for a user. The answer is the id that the trace has there. */
export type MoveTrace = (trace: Named, to: Place, userId: string, context: Context) => Promise<TransactResult<string>>

/** Moves of traces, and what a move that has died before its end may have left. */
export type Moves = {
  readonly moveTrace: MoveTrace
  /** Takes back the copy of a trace that was deleted instead of being moved to the end, if there is one. @throws Unavailable */
  readonly removeCopies: TraceServices['removeCopies']
}

type MoveServices = Pick<HistoryServices, 'reads' | 'timeline' | 'log' | 'codec'> &
  Pick<TraceServices, 'traces'> & {
    readonly quotas: Pick<Quotas, 'traces' | 'bytes'>
    /** Resolves when the read models show a position. */
    readonly caughtUp: (position: bigint) => Promise<void>
    /** The clock, in milliseconds. */
    readonly now: () => number
    readonly wholeTraces: WholeTraces
    /** The role of a user as it is now. */
    readonly roleIn: (namespaceId: string, userId: string) => Promise<Role | undefined>
  }

/** A trace at the end of its stream, where it comes from as the events in the other namespace say it, and the id that it has there. */
type Moving = { readonly from: TraceAtEnd; readonly origin: Origin; readonly there: string }

/** What the namespace has of a trace: nothing, a copy of an earlier state of it at this revision, or a copy of its present one. */
type Found =
  | { readonly is: 'nothing' | 'all' }
  | { readonly is: 'earlier'; readonly revision: Revision; readonly earlier: Earlier }

// A namespace may have a trace of the same name for any reason.
const copiesStatement = 'select id from traces where key = $1 and id <> $2 limit 100'

const DAY_MS = 86_400_000
const BUSY = 'The trace is being moved: try again later'
const INTERRUPTED = 'The trace was written to during each attempt to move it'

// The event by which the present trace was moved here, and whether anybody but the service has changed the trace since.
const arrivalStatement = `
  select a.data, exists (
    select from entries e where e.stream_id = $1 and e.revision > a.revision and e.type <> 'TraceSummarised'
  ) as changed
  from entries a where a.stream_id = $1 and a.type in ('TraceCreated', 'HistoryErased')
  order by a.position desc, a.place desc limit 1`

type ArrivalRow = Row & { readonly data: string; readonly changed: boolean }

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

const isGone = (error: unknown): boolean => error instanceof Rejected && error.code === 'not_found'

/**
 * Moves traces to other namespaces: what a trace is now is restated there, in a stream of its own, and then the trace here is deleted at that revision. Until it is
 * complete there is no trace there, and nobody can create one. A move that fails takes back what it has restated, unless that is complete and the trace here
 * has stayed: then both are there, as after a crash, and a repetition goes on.
 */
export const newMoves = (services: MoveServices): Moves => {
  const { reads, timeline, log, codec, traces, quotas, now, wholeTraces, roleIn, caughtUp } = services
  const present = newPresentTraces(services)
  const source = traceSource(reads, caughtUp)

  /** A trace as its stream says now. Unlike a command it does not wait for the queue of the trace, in which a move may be. */
  const traceNow = async (id: string): Promise<Trace> => {
    const last = await log.last(`trace-${id}`)
    if (!last) return { is: 'absent', earlier: NO_EARLIER }
    return (await source.load(id, [], last.position)).state.trace
  }

  /** @throws Rejected if the user may not move the trace there (any more) */
  const assertMayMove = async ({ trace }: TraceAtEnd, to: Place, userId: string) => {
    assertMayWrite(trace, { userId, role: await roleIn(trace.namespaceId, userId) })
    const { role, retentionDays } = await namespaceById(reads, to.namespaceId, userId)
    if (role === undefined) throw hiddenNotFound()
    if (retentionDays !== undefined && trace.updatedAt < now() - retentionDays * DAY_MS)
      throw new Rejected(
        'invalid_request',
        `The namespace @${to.slug} deletes traces that have not changed for ${retentionDays} days, so it would delete the trace ${trace.externalId} at once`,
      )
  }

  const movingOf = (from: TraceAtEnd, to: Place): Moving => {
    const { externalId, namespaceId, earlier } = from.trace
    const origin: Origin = { namespaceId, slug: from.detail.slug ?? '', deletions: earlier.count }
    return { from, origin, there: traceId(to.namespaceId, externalId) }
  }

  /** The copy of a trace that a move has completed there; undefined for a trace that is none, and for no trace. */
  const copyOf = async ({ origin, there }: { readonly origin: Omit<Origin, 'slug'>; readonly there: string }) => {
    const trace = await present(there).catch((error: unknown) => {
      if (isGone(error)) return undefined
      throw error
    })
    if (!trace) return { is: 'nothing' } as const
    const [arrival] = await timeline.rows<ArrivalRow>('moved-arrival', arrivalStatement, [there])
    const { movedFrom } = JSON.parse(arrival?.data ?? '{}') as { movedFrom?: Origin & { last: string } }
    const isOfIt = movedFrom?.namespaceId === origin.namespaceId && movedFrom.deletions === origin.deletions
    if (!arrival || !isOfIt) return { is: 'another' } as const
    return { is: 'copy', trace, last: movedFrom.last, isChanged: arrival.changed } as const
  }

  /** @throws Rejected exists for a trace that is no copy of this one, or one that has changed since as this one has */
  const foundThere = async (moving: Moving): Promise<Found> => {
    const found = await copyOf(moving)
    if (found.is === 'nothing') return found
    if (found.is === 'copy' && found.last === moving.from.last.id) return { is: 'all' }
    if (found.is === 'another' || found.isChanged) throw exists(moving.from.trace.externalId)
    return { is: 'earlier', revision: found.trace.last.revision, earlier: found.trace.trace.earlier }
  }

  /** Restates a trace at this revision of the stream that it has there. @throws WrongRevision if others have written there */
  const restate = async (
    { from, origin, there }: Moving,
    { revision, earlier }: { readonly revision: Revision; readonly earlier: Earlier },
    to: Place,
    context: Context,
  ) => {
    const since = revision + 1n
    const at = Math.max(now(), from.at)
    const restatement = newRestatement({ log, codec, stream: `trace-${there}`, revision, at, context })
    const { trace, detail, last } = from
    const messages = { id: detail.id, namespaceId: to.namespaceId, incarnation: detail.incarnation, since }
    for await (const event of restatedMessages(reads, messages)) await restatement.add(event)
    const more = { since: Number(since), erased: 0, past: [], movedFrom: { ...origin, last: last.id } }
    await restatement.finish((restated) =>
      restatedEvent(
        { ...trace, namespaceId: to.namespaceId, earlier },
        { ...restated, runs: [...restated.runs], ...more },
      ),
    )
  }

  /** Makes the place for a trace there, until which nothing has been restated; its revision, and how often a trace was deleted there. */
  const begin = async ({ from, origin, there }: Moving, to: Place, context: Context) => {
    const { externalId, createdBy } = from.trace
    const decide = arrive({ externalId, namespaceId: to.namespaceId, createdBy, movedFrom: origin })
    const answer = ({ trace }: TraceState) => (trace.is === 'absent' ? trace.earlier : NO_EARLIER)
    const { answer: earlier } = await traces.transact(there, { decide, answer }, context)
    return { earlier, revision: (await log.last(`trace-${there}`))!.revision }
  }

  const append = async (id: string, revision: Revision, event: TraceEvent, at: number, context: Context) => {
    const events = toNewEvents(traceKind, [{ event, context, at, ...codec.encode(event) }])
    const appended = await log.append(`trace-${id}`, expectedOf(revision), events)
    return { ...appended, id: events[0]!.id }
  }

  /** Deletes the trace here. @throws WrongRevision if it has changed meanwhile */
  const remove = async ({ trace, detail, at, last }: TraceAtEnd, to: Place, context: Context) => {
    const appended = await append(
      detail.id,
      last.revision,
      deletion(trace, { movedTo: to }),
      Math.max(now(), at),
      context,
    )
    context.noteLastEvent?.(appended)
    return appended.position
  }

  /** Whether the last life of a trace that is gone was moved there, by whomever. */
  const wasMoved = (trace: Trace, to: Place): boolean =>
    trace.is === 'absent' && trace.earlier.newest.at(-1)?.movedTo?.namespaceId === to.namespaceId

  /** Takes back what a failed move has left there, but for a complete copy of a trace that has stayed. */
  const takeBack = async ({ from, origin, there }: Moving, to: Place, context: Context): Promise<void> => {
    await traces.transact(there, { decide: withdraw(origin), answer: () => {} }, context)
    const here = await traceNow(from.detail.id)
    const { count } = here.earlier
    const hasStayed = here.is === 'present' && count === origin.deletions
    if (hasStayed || (count === origin.deletions + 1 && wasMoved(here, to))) return
    const copy = await copyOf({ origin, there })
    if (copy.is !== 'copy' || copy.isChanged) return
    const { trace, at, last } = copy.trace
    await append(there, last.revision, deletion(trace, { withdrawn: true }), Math.max(now(), at), context)
  }

  const moveOne = async (id: string, to: Place, userId: string, context: Context) => {
    const moving = movingOf(await present(id), to)
    const { from, there } = moving
    await assertMayMove(from, to, userId)
    const found = await foundThere(moving)
    try {
      if (found.is !== 'all') {
        const place = found.is === 'earlier' ? found : await begin(moving, to, context)
        await traces.exclusively(there, BUSY, () => restate(moving, place, to, context))
      }
      if (from.trace.summary) await traces.transact(there, { decide: carrySummary(from.trace), answer: () => {} }, {})
      await assertMayMove(from, to, userId)
      return await remove(from, to, context)
    } catch (error) {
      // An attempt that is repeated goes on with what is there.
      const isRepeated = error instanceof WrongRevision && (await traceNow(id)).is === 'present'
      if (!isRepeated) await takeBack(moving, to, context).catch(() => {}) // otherwise a worker does it
      throw error
    }
  }

  /** Moves a trace in the queue of its commands; the position is that of its deletion, 0n if it was there already. */
  const moveInTurn = (id: string, to: Place, userId: string, context: Context): Promise<bigint> =>
    traces.exclusively(id, BUSY, () =>
      wholeTraces.untilDone(INTERRUPTED, async () => {
        try {
          return await moveOne(id, to, userId, context)
        } catch (error) {
          if (isGone(error) && wasMoved(await traceNow(id), to)) return 0n
          throw error
        }
      }),
    )

  /** The trace and its sub-agents that the user may move, the trace itself at the end, once nothing keeps any of them from moving. */
  const familyOf = async (id: string, to: Place, userId: string): Promise<readonly TraceAtEnd[]> => {
    const root = await present(id)
    const { namespaceId } = root.trace
    const writer: UserRole = { userId, role: await roleIn(namespaceId, userId) }
    const ids = await reads.rows<MemberOfFamily>('moved-family', familyStatement, [id, namespaceId])
    const family: TraceAtEnd[] = []
    for (const one of ids) if (one.id !== id && mayWrite(one, writer)) family.push(await present(one.id))
    family.push(root)
    for (const from of family) {
      await assertMayMove(from, to, userId)
      await foundThere(movingOf(from, to))
    }
    return family
  }

  const moveAll = async (id: string, to: Place, userId: string, context: Context): Promise<bigint> => {
    const family = await wholeTraces.untilDone(INTERRUPTED, () => familyOf(id, to, userId))
    const bytes = family.reduce((sum, { detail }) => sum + Number(detail.bytes), 0)
    return quotas.traces.enforce(to.namespaceId, family.length, (roomOfTraces) => {
      assertFits(roomOfTraces, family.length)
      return quotas.bytes.enforce(to.namespaceId, bytes, async (roomOfBytes) => {
        assertFits(roomOfBytes, bytes)
        let position = 0n
        for (const { detail } of family) position = await moveInTurn(detail.id, to, userId, context)
        return position
      })
    })
  }

  const move = async ({ id, externalId }: Named, to: Place, userId: string, context: Context) => {
    const isThere = wasMoved(await traceNow(id), to) // while it waited for its turn
    const position = isThere ? 0n : await moveAll(id, to, userId, context)
    await caughtUp(position)
    return { answer: traceId(to.namespaceId, externalId), position }
  }

  /** @throws WrongRevision if others write to the copy, such as the move that takes it back */
  const removeCopy = async (where: Parameters<typeof copyOf>[0], context: Context): Promise<void> => {
    const copy = await copyOf(where)
    if (copy.is !== 'copy' || copy.isChanged) return
    const { trace, at, last } = copy.trace
    const { position } = await append(where.there, last.revision, deletion(trace), Math.max(now(), at), context)
    await caughtUp(position)
  }

  const removeCopies: Moves['removeCopies'] = async ({ id, externalId, namespaceId }, context) => {
    const others = await reads.rows<{ id: string } & Row>('moved-copies', copiesStatement, [keyHash(externalId), id])
    if (others.length === 0) return
    const { is, earlier } = await traceNow(id)
    if (is === 'present') return
    const origin = { namespaceId, deletions: earlier.count - 1 }
    for (const { id: there } of others)
      await wholeTraces.untilDone(INTERRUPTED, () => removeCopy({ origin, there }, context))
  }

  const moveTrace: MoveTrace = (trace, to, userId, context) =>
    wholeTraces.once(`move ${trace.id} ${to.namespaceId} ${userId}`, context, (shared) =>
      move(trace, to, userId, shared),
    )

  return { moveTrace, removeCopies }
}
