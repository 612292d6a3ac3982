import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { Loaded } from '../../eventstore/engine/stream.ts'
import type { StateSource } from '../../eventstore/engine/load-state.ts'
import { messageId } from '../../base/ids.ts'
import { type ExpectedRevision, expectedOf } from '../../eventstore/log/log.ts'
import { int4s, uuids } from '../../eventstore/postgres/arrays.ts'
import type { Usage } from '../../contract/usage.ts'
import { noCounts } from './decide.ts'
import type { PresentTrace, TraceNeed, TraceState } from './state.ts'
import type { Arriving } from './arriving.ts'
import { type Earlier, NO_EARLIER } from './earlier-deletions.ts'
import { eitherOf } from './messages/decide.ts'
import { readPartHead, readPartsHead, readTextHead } from './messages/heads.ts'
import { type PartsOfUpsert, LoadedMessages, type MessageHead } from './messages/loaded.ts'
import { type PartHeadsRow, headLinesIn, partHeads } from './messages/stored-parts.ts'
import { type TraceRow, fieldsOf } from './rows.ts'

type MessageRow = {
  ordinal: number | null
  message_external_id: string
  role: MessageHead['role']
  message_model: string | null
  sequence: number | null
  timestamp: number | null
  usage: string | null
  text_head: string | null
  parts_head: string
  part_count: number
  parts_length: number
  class: MessageHead['class']
  tools: string
  message_created_at: bigint
  message_updated_at: bigint
}

type HeaderRow = Omit<TraceRow, 'shape'> & {
  revision: bigint
  at: bigint
  incarnation: bigint
  erased: bigint | null
  message_types: string | null
  tool_types: string | null
} & {
  tombstone_revision: bigint | null
  tombstone_at: bigint | null
  deletions: string | null
  arriving: string | null
}

/** The trace with its counts, or its tombstone, and the named messages, all of one snapshot. */
const loadStatement = `
  select t.*, c.message_count, c.message_types, c.tool_types,
    d.revision as tombstone_revision, d.at as tombstone_at, d.deletions, d.arriving,
    m.ordinal, m.external_id as message_external_id, m.role, m.model as message_model, m.sequence, m.timestamp, m.usage,
    m.text_head, m.parts_head, m.part_count, m.parts_length, m.class, m.tools,
    m.created_at as message_created_at, m.updated_at as message_updated_at
  from (select $1::uuid as wanted) w
  left join traces t on t.id = w.wanted
  left join counts c on c.trace_id = t.id
  left join trace_tombstones d on d.id = w.wanted
  left join messages m on m.trace_id = t.id and m.incarnation = t.incarnation and m.id = any($2::uuid[])`

// The heads of the first parts of messages: $2 are the ids of messages, $3 the number of parts of each.
const partsStatement = `
  select t.revision, m.external_id, ${partHeads('n.count')}
  from traces t
    cross join unnest($2::uuid[], $3::int4[]) n (id, count)
    join messages m on m.trace_id = t.id and m.incarnation = t.incarnation and m.id = n.id
  where t.id = $1`

type PartsRow = PartHeadsRow & { revision: bigint; external_id: string }

const toHead = (row: MessageRow): MessageHead => ({
  ordinal: row.ordinal!,
  role: row.role,
  model: row.message_model === null ? undefined : (JSON.parse(row.message_model) as string),
  order: row.sequence ?? undefined,
  timestamp: row.timestamp ?? undefined,
  usage: row.usage === null ? undefined : (JSON.parse(row.usage) as Usage),
  text: row.text_head === null ? undefined : readTextHead(row.text_head),
  parts: readPartsHead(row.parts_head, row.part_count, row.parts_length),
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
  ...(row.erased === null ? {} : { since: Number(row.incarnation) }),
})

/** The state without messages, from rows of one revision of its stream. */
const toLoaded = (row: HeaderRow): Loaded<TraceState> => {
  const earlier = row.deletions ? (JSON.parse(row.deletions) as Earlier) : NO_EARLIER
  if (row.id) {
    const trace = toPresent(row, earlier)
    const messages = new LoadedMessages(trace.counts.messageCount)
    return { state: { trace, messages }, revision: row.revision, at: Number(row.at), position: 0n }
  }
  const revision: ExpectedRevision = expectedOf(row.tombstone_revision ?? -1n)
  const arriving = row.arriving === null ? {} : { arriving: JSON.parse(row.arriving) as Arriving }
  const state: TraceState = { trace: { is: 'absent', earlier, ...arriving }, messages: new LoadedMessages() }
  return { state, revision, at: Number(row.tombstone_at ?? 0n), position: 0n }
}

const covers = ({ trace, messages }: TraceState, need: TraceNeed): boolean => {
  if (trace.is === 'absent') return true
  for (const [externalId, parts] of need) {
    if (messages.find(externalId) === 'unknown' || (parts && messages.lacksDigests(externalId, parts))) return false
  }
  return true
}

const joined = (needs: readonly TraceNeed[]): TraceNeed => {
  const all = new Map<string, PartsOfUpsert | undefined>()
  for (const need of needs)
    for (const [externalId, parts] of need) all.set(externalId, eitherOf(all.get(externalId), parts))
  return all
}

/**
 * Loads the state for decisions from the read models, at the revision of their rows. A fold would read thousands of messages.
 * `caughtUp` waits until the read models have reached a position.
 */
export const traceSource = (
  reads: Reads<ReadTables>,
  caughtUp: (position: bigint) => Promise<void>,
): StateSource<TraceState, TraceNeed> => {
  /** Loads the trace and the heads of the needed messages. */
  const header = async (id: string, need: TraceNeed): Promise<Loaded<TraceState>> => {
    const ids = [...need.keys()].map((externalId) => messageId(id, externalId))
    const rows = await reads.rows<HeaderRow & MessageRow & Row>('trace-load', loadStatement, [id, uuids(ids)])
    const loaded = toLoaded(rows[0]!)
    for (const externalId of need.keys()) loaded.state.messages.set(externalId, 'none')
    for (const row of rows) {
      if (row.ordinal === null) continue
      loaded.state.messages.set(row.message_external_id, toHead(row))
    }
    return loaded
  }

  /** Adds the digests of parts that may change; returns false if the rows are of another revision meanwhile. */
  const addDigests = async (
    id: string,
    { state: { messages }, revision }: Loaded<TraceState>,
    wanted: ReadonlyMap<string, number>,
  ): Promise<boolean> => {
    if (wanted.size === 0) return true
    const ids = [...wanted.keys()].map((externalId) => messageId(id, externalId))
    const values = [id, uuids(ids), int4s([...wanted.values()])]
    const rows = await reads.rows<PartsRow & Row>('trace-parts', partsStatement, values)
    for (const row of rows) {
      if (row.revision !== revision) return false
      messages.setDigests(
        row.external_id,
        headLinesIn(row).map((line) => readPartHead(line).digest),
      )
    }
    return rows.length === wanted.size
  }

  const load = async (id: string, needs: readonly TraceNeed[], shown: bigint): Promise<Loaded<TraceState>> => {
    const need = joined(needs)
    if (shown > 0n) await caughtUp(shown)
    for (;;) {
      const loaded = await header(id, need)
      const wanted = new Map<string, number>()
      for (const [externalId, parts] of need) {
        if (parts && loaded.state.messages.lacksDigests(externalId, parts)) wanted.set(externalId, parts.count)
      }
      if (await addDigests(id, loaded, wanted)) return loaded
    }
  }

  const add = (state: TraceState, loaded: TraceState) => state.messages.add(loaded.messages)

  return { load, parts: { covers, add } }
}
