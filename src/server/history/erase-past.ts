import type { TimelineTables } from '../../tables/timeline.ts'
import type { Role } from '../../contract/namespaces.ts'
import type { Context } from '../../eventstore/engine/decide.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import type { TransactResult } from '../../eventstore/engine/queued-command.ts'
import type { PresentTrace } from '../trace/state.ts'
import { earlierFields } from '../trace/earlier-deletions.ts'
import type { PastEntry, Place, TraceEvent } from '../trace/events.ts'
import { type UserRole, assertMayWrite } from '../trace/policy.ts'
import { firstRevision } from './locate.ts'
import type { TraceServices } from '../trace/services.ts'
import { newPresentTraces } from './present-traces.ts'
import { restatedMessages } from './restated-messages.ts'
import { newRestatement } from './restatement.ts'
import type { HistoryServices } from './services.ts'
import type { WholeTraces } from './whole-traces.ts'

/** The result of an erasure: the revision of its event, or the present revision if there was nothing to erase; and how many events were erased. */
type ErasedPast = { readonly revision: number; readonly erased: number }

export type ErasePast = (id: string, writer: UserRole, context: Context) => Promise<TransactResult<ErasedPast>>

type ErasePastServices = Pick<HistoryServices, 'reads' | 'timeline' | 'log' | 'codec'> &
  Pick<TraceServices, 'traces'> & {
    /** Resolves when the read models show a position. */
    readonly caughtUp: (position: bigint) => Promise<void>
    /** The clock, in milliseconds. */
    readonly now: () => number
    readonly wholeTraces: WholeTraces
    /** The role of a user as it is now. */
    readonly roleIn: (namespaceId: string, userId: string) => Promise<Role | undefined>
  }

const BUSY = 'The past of the trace is being erased: try again later'

type Entries = TimelineTables['entries']
type PastRow = Pick<Entries, 'type' | 'revision' | 'at' | 'actor' | 'request_id' | 'added' | 'updated' | 'data'>

// The entries that the timeline of the namespace shows, without deletions, which are in the state of the trace.
const pastStatement = `
  select type, revision, at, actor, request_id, added, updated,
    case when type in ('TraceSummarised', 'HistoryErased') then data end as data
  from entries where stream_id = $1 and type <> 'TraceDeleted' and through >= $2 order by position, place`

type RecordedData = { readonly messageCount?: number; readonly erased?: number; readonly movedFrom?: Place }

const pastEntry = ({ type, revision, at, actor, request_id, added, updated, data }: PastRow): PastEntry => {
  const { messageCount, erased, movedFrom } = JSON.parse(data ?? '{}') as RecordedData
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
    ...(movedFrom === undefined ? {} : { movedFrom: { namespaceId: movedFrom.namespaceId, slug: movedFrom.slug } }),
  }
}

type Erased = Extract<TraceEvent, { type: 'HistoryErased' }>['data']

/** The event with which a trace begins anew. It has the present state of the trace, without its summary, which may quote the past. */
export const restatedEvent = (
  trace: PresentTrace,
  more: Pick<Erased, 'since' | 'runs' | 'bytes' | 'erased' | 'past' | 'movedFrom'>,
): TraceEvent => {
  const { externalId, namespaceId, createdBy, createdAt, updatedAt, fields, counts, earlier } = trace
  const data = { externalId, namespaceId, createdBy, ...fields, createdAt, updatedAt, ...counts }
  return { type: 'HistoryErased', data: { ...data, ...more, ...earlierFields(earlier) } }
}

/**
 * Erases the past of traces: restates the present state of a trace at the end of its stream, after which everything before that may be erased. The
 * commands of this service for the trace wait meanwhile.
 */
export const newErasePast = (services: ErasePastServices): ErasePast => {
  const { reads, timeline, log, codec, traces, now, wholeTraces, roleIn } = services
  const present = newPresentTraces(services)

  const attempt = async (id: string, writer: UserRole, context: Context): Promise<TransactResult<ErasedPast>> => {
    const stream = `trace-${id}`
    const { trace, detail, at, last } = await present(id)
    // As it is now: the erasure may have waited for its turn.
    const { userId } = writer
    assertMayWrite(trace, { userId, role: await roleIn(trace.namespaceId, userId) })
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
      restatedEvent(trace, { ...restated, runs: [...restated.runs], since: Number(since), erased, past }),
    )
    context.noteLastEvent?.(appended)
    return { answer: { revision: Number(appended.revision), erased }, position: appended.position }
  }

  // A repeated request of a user waits for the erasure that the first one has begun. A new erasure would also have to erase the writes that
  // waited for the first one, and so on with each repetition.
  return (id, writer, context) =>
    wholeTraces.once(`erase ${id} ${writer.userId}`, context, (context) =>
      traces.exclusively(id, BUSY, () =>
        wholeTraces.untilDone('The trace was written to during each attempt to erase its past', () =>
          attempt(id, writer, context),
        ),
      ),
    )
}
