import type { Row } from '../../eventstore/engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { isId } from '../../base/ids.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { idOfSlug, namespaceOfAdmin } from '../namespace/queries.ts'
import type { TraceName } from '../trace/locate.ts'
import { firstRevision, traceForHistory } from './locate.ts'
import type { HistoryServices } from './services.ts'

/** The parts of the service that find single events. */
type EventServices = Pick<HistoryServices, 'reads' | 'codec'> & {
  readonly log: Pick<HistoryServices['log'], 'read'>
}

/** @throws 404 if the stream has no event at this revision */
export const eventAt = async (
  { log }: Pick<EventServices, 'log'>,
  stream: string,
  revision: bigint,
): Promise<RecordedEvent> => {
  for await (const event of log.read(stream, { from: revision, limit: 1 }))
    if (event.revision === revision) return event
  throw notFound()
}

/**
 * An event of a trace, for members of its namespace. Events of an earlier trace with the same externalId, and events before an erasure, count as
 * missing.
 * @throws 404 if the event does not exist, or was erased; 401 if there is no caller; Rejected forbidden if the caller is not a member
 */
export const eventOfTrace = async (
  services: EventServices,
  name: TraceName,
  revision: bigint,
  caller: Caller | undefined,
): Promise<RecordedEvent> => {
  const trace = await traceForHistory(services, name, caller)
  if (revision < firstRevision(trace) || revision > trace.revision) throw notFound()
  return eventAt(services, `trace-${trace.id}`, revision)
}

/** An event of a namespace itself, for its admins. @throws 404, Rejected forbidden */
export const eventOfNamespace = async (
  services: EventServices,
  slug: string,
  revision: bigint,
  caller: Caller,
): Promise<RecordedEvent> => {
  const { id } = await namespaceOfAdmin(services.reads, idOfSlug(slug), caller)
  return eventAt(services, `namespace-${id}`, revision)
}

type TombstoneRow = { revision: bigint }
const deletionStatement = 'select revision from trace_tombstones where id = $1'

/** The newest deletion of a trace of a namespace, for its admins. @throws 404 if there is none, Rejected forbidden */
export const deletionOfTrace = async (
  services: EventServices,
  slug: string,
  traceId: string,
  caller: Caller,
): Promise<RecordedEvent> => {
  const { reads, codec } = services
  const namespace = await namespaceOfAdmin(reads, idOfSlug(slug), caller)
  if (!isId(traceId)) throw notFound()
  const [row] = await reads.rows<TombstoneRow & Row>('history-deletion', deletionStatement, [traceId])
  if (!row) throw notFound()
  const event = await eventAt(services, `trace-${traceId}`, row.revision)
  const { namespaceId: owner } = codec.decode(event).data as { namespaceId?: string }
  if (event.type !== 'TraceDeleted' || owner !== namespace.id) throw notFound()
  return event
}
