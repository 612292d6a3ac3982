import { Rejected, hiddenNotFound } from '../../eventstore/engine/rejected.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { ReadTables } from '../../tables/main.ts'
import type { Caller } from '../http/caller.ts'
import { notFound, unauthorized } from '../http/http-error.ts'
import type { TraceName } from '../trace/locate.ts'
import { missingTrace } from '../trace/moved.ts'
import { type ResolvedTrace, type StoredDetail, detailStatement, resolveTrace } from '../trace/queries.ts'
import type { HistoryServices } from './services.ts'

/** A current trace whose history the caller may see. */
export type PresentTraceRow = StoredDetail & {
  /** The checkpoint of the snapshot that the row was read from. */
  readonly position: bigint
}

/**
 * The revision of the event with which a trace begins in the log. After an erasure of its past that is the event of the erasure: the incarnation
 * is named by the first restated message, and in a copy of the log its number may be that of an event before.
 */
export const firstRevision = ({ erased, incarnation }: Pick<StoredDetail, 'erased' | 'incarnation'>): bigint =>
  erased ?? incarnation

/** Checks that the caller is a member, also of a public trace. @throws 401, Rejected forbidden, 404 */
const assertMaySeeHistory = (
  trace: Pick<ResolvedTrace, 'visibility' | 'role'>,
  caller: Pick<Caller, 'userId'> | undefined,
): void => {
  if (!caller) throw unauthorized()
  if (trace.role !== undefined) return
  if (trace.visibility !== 'public') throw hiddenNotFound()
  throw new Rejected(
    'forbidden',
    'Only members of its namespace may see the history of a trace: ask one of its admins for an invite',
  )
}

const statement = `select d.*, c.position from (${detailStatement}) d cross join reached c`

const presentTrace = async (reads: Reads<ReadTables>, id: string): Promise<PresentTraceRow> => {
  const [row] = await reads.rows<PresentTraceRow & Row>('history-trace', statement, [id])
  if (!row) throw notFound()
  return row
}

/**
 * The trace that a request names, if the caller may see its history.
 * @throws 404 if it does not exist, or the caller may not read it; 401 if there is no caller; Rejected forbidden if the caller is not a member
 */
export const traceForHistory = async (
  { reads }: Pick<HistoryServices, 'reads'>,
  { externalId, namespace }: TraceName,
  caller: Caller | undefined,
): Promise<PresentTraceRow> => {
  const hit = await resolveTrace(reads, externalId, caller, namespace)
  if (!hit) throw await missingTrace(reads, { externalId, namespace }, caller)
  assertMaySeeHistory(hit, caller)
  return presentTrace(reads, hit.id)
}

/**
 * The trace that `traceForHistory` finds, once the timeline shows everything up to the snapshot of the trace's row.
 * @throws the errors of `traceForHistory`; Unavailable if the timeline takes too long
 */
export const traceWithTimeline = async (
  services: Pick<HistoryServices, 'reads' | 'timeline'>,
  name: TraceName,
  caller: Caller | undefined,
): Promise<PresentTraceRow> => {
  const trace = await traceForHistory(services, name, caller)
  await services.timeline.caughtUp(trace.position)
  services.timeline.assertNotQuarantined(`trace-${trace.id}`)
  return trace
}
