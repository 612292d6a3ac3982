import type { TimelineTables } from '../../tables/timeline.ts'
import { currentClient, withPermit } from '../../base/current-client.ts'
import { newPermits } from '../../base/permits.ts'
import { pause } from '../../base/waits.ts'
import type { Context } from '../../eventstore/engine/decide.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { ExplainedUnavailable, Rejected, Unavailable } from '../../eventstore/engine/rejected.ts'
import type { TransactResult } from '../../eventstore/engine/queued-command.ts'
import { LogUnavailable, WrongRevision } from '../../eventstore/log/log.ts'
import { traceDetail } from '../trace/queries.ts'
import type { PresentTrace } from '../trace/state.ts'
import { earlierFields } from '../trace/earlier-deletions.ts'
import type { PastEntry, TraceEvent } from '../trace/events.ts'
import { type UserRole, assertMayWrite } from '../trace/policy.ts'
import { firstRevision } from './locate.ts'
import type { TraceServices } from '../trace/services.ts'
import { traceSource } from '../trace/source.ts'
import { restatedMessages } from './restated-messages.ts'
import { newRestatement } from './restatement.ts'
import type { HistoryServices } from './services.ts'

/** The result of an erasure: the revision of its event, or the present revision if there was nothing to erase; and how many events were erased. */
type ErasedPast = { readonly revision: number; readonly erased: number }

export type ErasePast = (id: string, writer: UserRole, context: Context) => Promise<TransactResult<ErasedPast>>

type ErasePastServices = Pick<HistoryServices, 'reads' | 'timeline' | 'log' | 'codec'> &
  Pick<TraceServices, 'traces'> & {
    /** Resolves when the read models show a position. */
    readonly caughtUp: (position: bigint) => Promise<void>
    /** The clock, in milliseconds. */
    readonly now: () => number
  }

/** For how long an erasure that writers on other nodes interrupt is tried again, and the pause before each try. */
const TRYING_MS = 60_000
const PAUSE_MS = 20
const BUSY = 'The past of the trace is being erased: try again later'

/** An erasure that has not ended, and the contexts of all requests that wait for it. */
type Running = { readonly result: Promise<TransactResult<ErasedPast>>; readonly contexts: Context[] }

type Entries = TimelineTables['entries']
type PastRow = Pick<Entries, 'type' | 'revision' | 'at' | 'actor' | 'request_id' | 'added' | 'updated' | 'data'>

// The entries that the timeline of the namespace shows, without deletions, which are in the state of the trace.
const pastStatement = `
  select type, revision, at, actor, request_id, added, updated,
    case when type in ('TraceSummarised', 'HistoryErased') then data end as data
  from entries where stream_id = $1 and type <> 'TraceDeleted' and through >= $2 order by position, place`

const pastEntry = ({ type, revision, at, actor, request_id, added, updated, data }: PastRow): PastEntry => {
  const { messageCount, erased } = JSON.parse(data ?? '{}') as { messageCount?: number; erased?: number }
  const count = erased ?? messageCount
  return {
    type,
    revision: Number(revision),
    at: Number(at),
    ...(actor === null ? {} : { actor }),
    ...(request_id === null ? {} : { requestId: request_id }),
    ...(added === null ? {} : { added }),
    ...(updated === null ? {} : { updated }),
    ...(count === undefined ? {} : { count }),
  }
}

type Erased = Extract<TraceEvent, { type: 'HistoryErased' }>['data']

/** The event of an erasure. It has the present state of the trace, without its summary, which may quote the past. */
const erasedEvent = (
  trace: PresentTrace,
  more: Pick<Erased, 'since' | 'runs' | 'bytes' | 'erased' | 'past'>,
): TraceEvent => {
  const { externalId, namespaceId, createdBy, createdAt, updatedAt, fields, counts, earlier } = trace
  const data = { externalId, namespaceId, createdBy, ...fields, createdAt, updatedAt, ...counts }
  return { type: 'HistoryErased', data: { ...data, ...more, ...earlierFields(earlier) } }
}

const notFound = () => new Rejected('not_found', 'Not found')

/**
 * Erases the past of traces: restates the present state of a trace at the end of its stream, after which everything before that may be erased. The
 * commands of this service for the trace wait meanwhile.
 */
export const newErasePast = (services: ErasePastServices): ErasePast => {
  const { reads, timeline, log, codec, traces, caughtUp, now } = services
  const source = traceSource(reads, caughtUp)

  /** The trace as the read models show it, at the end of its stream. @throws WrongRevision when they show another revision */
  const present = async (id: string, stream: string) => {
    const last = await log.last(stream)
    if (!last) throw notFound()
    await Promise.all([caughtUp(last.position), timeline.caughtUp(last.position)])
    timeline.assertNotQuarantined(stream)
    const { state, revision, at } = await source.load(id, [], last.position)
    const detail = await traceDetail(reads, id)
    if (state.trace.is === 'absent' || !detail) throw notFound()
    if (detail.revision !== revision) throw new WrongRevision(stream, detail.revision)
    return { trace: state.trace, detail, at, last }
  }

  const attempt = async (id: string, writer: UserRole, context: Context): Promise<TransactResult<ErasedPast>> => {
    const stream = `trace-${id}`
    const { trace, detail, at, last } = await present(id, stream)
    assertMayWrite(trace, writer)
    const first = firstRevision(detail)
    if (detail.revision === first) {
      context.noteLastEvent?.({ ...last, revision: first })
      return { answer: { revision: Number(first), erased: 0 }, position: last.position }
    }
    const past = (await timeline.rows<PastRow & Row>('past-entries', pastStatement, [id, first])).map(pastEntry)
    // A crash may have left a part of an append, which no reader sees but the stream's revision counts: the restatement begins after it.
    const { revision } = last
    const since = revision + 1n
    const restatement = newRestatement({ log, codec, stream, revision, at: Math.max(now(), at), context })
    const { namespaceId } = trace
    for await (const event of restatedMessages(reads, { id, namespaceId, incarnation: detail.incarnation, since }))
      await restatement.add(event)
    const erased = Number(detail.revision - first) + 1
    const appended = await restatement.finish((restated) =>
      erasedEvent(trace, { ...restated, runs: [...restated.runs], since: Number(since), erased, past }),
    )
    context.noteLastEvent?.(appended)
    return { answer: { revision: Number(appended.revision), erased }, position: appended.position }
  }

  const untilDone = async (id: string, writer: UserRole, context: Context): Promise<TransactResult<ErasedPast>> => {
    for (const until = performance.now() + TRYING_MS; ;) {
      try {
        return await attempt(id, writer, context)
      } catch (error) {
        if (error instanceof LogUnavailable) throw new Unavailable(error.message, error.stored, error)
        if (!(error instanceof WrongRevision)) throw error
        if (performance.now() > until)
          throw new ExplainedUnavailable(
            'The trace was written to during each attempt to erase its past: try again when nothing writes to it',
          )
        await pause(PAUSE_MS)
      }
    }
  }

  const running = new Map<string, Running>()
  // One at a time, because each reads and writes a whole trace.
  const permits = newPermits({ capacity: 1, things: 'erasures of a past', graceTicks: 0, waitTicks: Infinity })

  /** Starts an erasure when its client has its turn. */
  const start = (id: string, writer: UserRole, contexts: readonly Context[]) => {
    const context: Context = {
      ...contexts[0],
      noteLastEvent: (last) => contexts.forEach(({ noteLastEvent }) => noteLastEvent?.(last)),
    }
    const erase = () => traces.exclusively(id, BUSY, () => untilDone(id, writer, context))
    return withPermit(permits, currentClient(), erase)
  }

  // A repeated request of a user waits for the erasure that the first one has begun. A new erasure would also have to erase the writes that
  // waited for the first one, and so on with each repetition.
  return (id, writer, context) => {
    const key = `${id} ${writer.userId}`
    const same = running.get(key)
    if (same) {
      same.contexts.push(context)
      return same.result
    }
    const contexts = [context]
    const result = start(id, writer, contexts).finally(() => running.delete(key))
    running.set(key, { result, contexts })
    return result
  }
}
