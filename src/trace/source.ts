import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Loaded } from '../engine/stream.ts'
import type { StateSource } from '../engine/load-state.ts'
import { messageId } from '../ids.ts'
import { parseExact } from '../json/exact.ts'
import { type ExpectedRevision, expectedOf } from '../log/log.ts'
import { uuids } from '../postgres/arrays.ts'
import { type PresentTrace, type TraceNeed, type TraceState, noCounts } from './decide.ts'
import { type Earlier, NO_EARLIER } from './earlier-deletions.ts'
import { type KnownMessage, LoadedMessages } from './messages/loaded.ts'
import type { MessageDocument } from './messages/message.ts'
import { type Part, storedPart } from './messages/part.ts'
import { type TraceRow, fieldsOf } from './rows.ts'

type MessageRow = {
  ordinal: number | null
  message_external_id: string
  digest: string
  class: KnownMessage['class']
  tools: string
  message_created_at: bigint
  message_updated_at: bigint
}

type HeaderRow = TraceRow & {
  revision: bigint
  at: bigint
  message_types: string | null
  tool_types: string | null
} & {
  buried_revision: bigint | null
  buried_at: bigint | null
  deletions: string | null
}

/** The header, its counts or its tombstone, and the messages that are named, all of one snapshot. */
const loadStatement = `
  select t.*, c.message_count, c.message_types, c.tool_types,
    d.revision as buried_revision, d.at as buried_at, d.deletions,
    m.ordinal, m.external_id as message_external_id, m.digest, m.class, m.tools,
    m.created_at as message_created_at, m.updated_at as message_updated_at
  from (select $1::uuid as wanted) w
  left join traces t on t.id = w.wanted
  left join counts c on c.trace_id = t.id
  left join trace_tombstones d on d.id = w.wanted
  left join messages m on m.trace_id = t.id and m.incarnation = t.incarnation and m.id = any($2::uuid[])`

const documentsStatement = `
  select t.revision, m.external_id, m.role, m.text_content, m.model, m.sequence, m.timestamp, (
    select string_agg(p.body::text, ',' order by p.position) from parts p
    where p.trace_id = m.trace_id and p.incarnation = m.incarnation and p.ordinal = m.ordinal
  ) as parts
  from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
  where t.id = $1 and m.id = any($2::uuid[])`

type DocumentRow = {
  revision: bigint
  external_id: string
  role: MessageDocument['role']
  text_content: string | null
  model: string | null
  sequence: number | null
  timestamp: number | null
  parts: string | null
}

const toDocument = ({ role, text_content, model, sequence, timestamp, parts }: DocumentRow): MessageDocument => ({
  role,
  ...(text_content === null ? {} : { textContent: JSON.parse(text_content) as string }),
  ...(model === null ? {} : { model: JSON.parse(model) as string }),
  ...(sequence === null ? {} : { order: sequence }),
  ...(timestamp === null ? {} : { timestamp }),
  parts: (parseExact(`[${parts ?? ''}]`) as Part[]).map(storedPart), // less the order that answers show
})

const toKnown = (row: MessageRow): KnownMessage => ({
  ordinal: row.ordinal!,
  digest: row.digest,
  class: row.class,
  tools: JSON.parse(row.tools) as string[],
  createdAt: Number(row.message_created_at),
  updatedAt: Number(row.message_updated_at),
})

const toPresent = (row: HeaderRow, earlier: Earlier): PresentTrace => ({
  is: 'present',
  externalId: row.external_id,
  namespaceId: row.namespace_id,
  createdBy: row.created_by,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  fields: fieldsOf(row),
  counts: row.message_types
    ? {
        messageCount: Number(row.message_count),
        messageTypeCounts: JSON.parse(row.message_types),
        toolTypeCounts: JSON.parse(row.tool_types!),
      }
    : noCounts,
  ...(row.ai_summary === null
    ? {}
    : {
        summary: {
          ...(row.ai_title === null ? {} : { title: JSON.parse(row.ai_title) as string }),
          summary: JSON.parse(row.ai_summary) as string,
          messageCount: Number(row.summary_message_count),
        },
      }),
  earlier,
})

/** The trace with none of its messages loaded, from rows that stand for one revision of its stream. */
const toLoaded = (row: HeaderRow): Loaded<TraceState> => {
  const earlier = row.deletions ? (JSON.parse(row.deletions) as Earlier) : NO_EARLIER
  if (row.id) {
    const trace = toPresent(row, earlier)
    const messages = new LoadedMessages(trace.counts.messageCount)
    return { state: { trace, messages }, revision: row.revision, at: Number(row.at), position: 0n }
  }
  const revision: ExpectedRevision = expectedOf(row.buried_revision ?? -1n)
  const state: TraceState = { trace: { is: 'absent', earlier }, messages: new LoadedMessages() }
  return { state, revision, at: Number(row.buried_at ?? 0n), position: 0n }
}

const covers = ({ trace, messages }: TraceState, need: TraceNeed): boolean => {
  if (trace.is === 'absent') return true
  for (const [externalId, digest] of need) {
    if (messages.find(externalId) === 'unknown' || messages.lacksDocument(externalId, digest)) return false
  }
  return true
}

/**
 * Traces are not folded, they may hold thousands of messages: the state for a decision is loaded from the read models,
 * at the revision that their rows stand for. `caughtUp` waits until they show a position.
 */
export const traceSource = (
  reads: Reads<ReadTables>,
  caughtUp: (position: bigint) => Promise<void>,
): StateSource<TraceState, TraceNeed> => {
  const header = async (id: string, need: TraceNeed): Promise<Loaded<TraceState>> => {
    const ids = [...need.keys()].map((externalId) => messageId(id, externalId))
    const rows = await reads.rows<HeaderRow & MessageRow & Row>('trace-load', loadStatement, [id, uuids(ids)])
    const loaded = toLoaded(rows[0]!)
    const { messages } = loaded.state
    for (const externalId of need.keys()) messages.set(externalId, 'none')
    for (const row of rows) if (row.ordinal !== null) messages.set(row.message_external_id, toKnown(row))
    return loaded
  }

  /** Adds the documents of messages that will change; false when the rows are of another revision by now. */
  const addDocuments = async (
    id: string,
    { state, revision }: Loaded<TraceState>,
    need: TraceNeed,
  ): Promise<boolean> => {
    const { messages } = state
    const changing = [...need].filter(([externalId, digest]) => messages.lacksDocument(externalId, digest))
    if (changing.length === 0) return true
    const ids = changing.map(([externalId]) => messageId(id, externalId))
    const rows = await reads.rows<DocumentRow & Row>('trace-documents', documentsStatement, [id, uuids(ids)])
    for (const row of rows) {
      if (row.revision !== revision) return false
      messages.setDocument(row.external_id, toDocument(row))
    }
    return rows.length === changing.length
  }

  const load = async (id: string, needs: readonly TraceNeed[], shown: bigint): Promise<Loaded<TraceState>> => {
    const need: TraceNeed = new Map(needs.flatMap((one) => [...one]))
    if (shown > 0n) await caughtUp(shown)
    for (;;) {
      const loaded = await header(id, need)
      if ((await addDocuments(id, loaded, need)) && (await addOthers(id, loaded, needs))) return loaded
    }
  }

  /** Of several commands for one message each brings a digest of its own: any that differs needs the document. */
  const addOthers = async (id: string, loaded: Loaded<TraceState>, needs: readonly TraceNeed[]): Promise<boolean> => {
    for (const need of needs) if (!(await addDocuments(id, loaded, need))) return false
    return true
  }

  const add = (state: TraceState, loaded: TraceState) => state.messages.add(loaded.messages)

  return { load, parts: { covers, add } }
}
