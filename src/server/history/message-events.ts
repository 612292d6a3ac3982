import type { Row } from '../../eventstore/engine/reads.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import { messageId } from '../../base/ids.ts'
import { notFound } from '../http/http-error.ts'
import { type PresentTraceRow, firstRevision } from './locate.ts'
import { additions, allUpdates } from './message-revisions.ts'
import type { HistoryServices } from './services.ts'
import { eventAt } from './single-events.ts'

type OrdinalRow = { ordinal: number; external_id: string }

// Messages that came after the trace was read are not in its revisions yet.
const ordinalsStatement = `
  select m.ordinal, m.external_id from unnest($3::uuid[]) k (id) cross join lateral (
    select * from messages r where r.trace_id = $1 and r.incarnation = $2 and r.id = k.id limit 1
  ) m where m.added <= $4`

/** @throws 404 if the trace has not all of these messages */
const ordinalsOf = async (
  { reads }: Pick<HistoryServices, 'reads'>,
  { id, incarnation, revision }: PresentTraceRow,
  externalIds: readonly string[],
): Promise<Map<number, string>> => {
  const values = [id, incarnation, uuids(externalIds.map((one) => messageId(id, one))), revision]
  const rows = await reads.rows<OrdinalRow & Row>('messages-ordinals', ordinalsStatement, values)
  if (rows.length < externalIds.length) throw notFound()
  return new Map(rows.map(({ ordinal, external_id }) => [ordinal, external_id]))
}

/** The revisions of the events that wrote messages, with the externalId of each. @throws 404 if the trace is being erased */
const revisionsOf = async (
  services: HistoryServices,
  trace: PresentTraceRow,
  messages: ReadonlyMap<number, string>,
): Promise<Map<bigint, string>> => {
  const past = { ...trace, first: firstRevision(trace) }
  const [added, updates] = await Promise.all([
    additions(services, past, [...messages.keys()]),
    allUpdates(services, past),
  ])
  if (added.size < messages.size) throw notFound()
  const revisions = new Map<bigint, string>()
  for (const [revision, ordinal] of added) revisions.set(revision, messages.get(ordinal)!)
  for (const [ordinal, externalId] of messages)
    for (const revision of updates.of(ordinal)) revisions.set(revision, externalId)
  return revisions
}

/** An event of a trace; `message` is the externalId of the message that it wrote. */
export type WrittenEvent = { readonly event: RecordedEvent; readonly message?: string }

/**
 * The event that a trace of `traceWithTimeline` begins with now, then every event in the log that wrote one of these messages, in the order of the log.
 * After an erasure of the past the first one is `HistoryErased`, although it comes after the restated messages. Takes the memory of a page of the log.
 * @throws 404 for an unknown message, and if the trace is deleted, or its past erased, meanwhile
 */
export async function* eventsOfMessages(
  services: HistoryServices,
  trace: PresentTraceRow,
  externalIds: readonly string[],
): AsyncGenerator<WrittenEvent, void> {
  const stream = `trace-${trace.id}`
  const messages = await ordinalsOf(services, trace, externalIds)
  const revisions = await revisionsOf(services, trace, messages)
  yield { event: await eventAt(services, stream, firstRevision(trace)) }
  let count = 0
  const ascending = [...revisions.keys()].sort((a, b) => Number(a - b))
  for await (const event of services.log.readRevisions(stream, ascending)) {
    count += 1
    yield { event, message: revisions.get(event.revision)! }
  }
  if (count < revisions.size) throw notFound()
}
