import { projectionOf, type DecodedEvent, type WriteStatement } from '../src/engine/projection.ts'
import { messageId } from '../src/base/ids.ts'
import { uuids } from '../src/postgres/arrays.ts'
import type { TraceEvent } from '../src/trace/events.ts'
import { NO_PARTS, headOfText, partsHeadLine, textHeadLine } from '../src/trace/messages/heads.ts'
import { headsOf, partIndex, timestampIn } from '../src/trace/messages/message.ts'
import { literal } from './support/changed-rows.ts'
import { type NewRows, newRows } from './support/new-rows.ts'
import { PRESENT_INCARNATION, byKey, required } from './support/sql.ts'
import { listOrder, messagesTable } from './tables.ts'

type Added = Extract<TraceEvent, { type: 'MessageAdded' }>['data']
type Updated = Extract<TraceEvent, { type: 'MessageUpdated' }>

type Row = {
  readonly traceId: string
  readonly ordinal: number
  readonly fields: Record<string, unknown>
  class: string
  tools: readonly string[]
  /** Undefined where they stay as they are. */
  textHead: string | undefined
  partsHead: string | undefined
  updatedAt: number
  revision: bigint
}
type NewRow = Row & { readonly externalId: string; readonly createdAt: number }

type Changes = {
  readonly added: NewRows<NewRow>
  readonly updated: Map<string, Row>
  /** The ids of traces of which a message has another timestamp instead of one that it had. */
  readonly retimed: Set<string>
}

const scalarsOf = ({ role, textContent, model, order, timestamp }: Added) => ({
  role,
  textContent,
  model,
  order,
  timestamp,
})

const update = (row: Row, { data, at, revision }: DecodedEvent<Updated>) => {
  for (const operation of data.patch) {
    if (partIndex(operation.path) !== undefined || operation.op === 'remove') continue
    row.fields[operation.path.slice(1)] = operation.value
    if (operation.path === '/textContent') row.textHead = textHeadLine(headOfText(operation.value as string))
  }
  if (data.parts) row.partsHead = data.parts === 'unknown' ? '' : partsHeadLine(data.parts)
  row.class = data.class
  row.tools = data.tools
  row.updatedAt = at
  row.revision = revision
}

const keyOf = ({ traceId, ordinal }: Pick<Row, 'traceId' | 'ordinal'>) => `${traceId}/${ordinal}`

const forget = (rows: Map<string, Row>, traceId: string) => {
  for (const [key, row] of rows) if (row.traceId === traceId) rows.delete(key)
}

const cells = {
  trace_id: ({ traceId }: Row) => traceId,
  ordinal: ({ ordinal }: Row) => ordinal,
  role: ({ fields }: Row) => fields.role as string | undefined,
  text_content: ({ fields }: Row) => literal(fields.textContent),
  model: ({ fields }: Row) => literal(fields.model),
  sequence: ({ fields }: Row) => fields.order as number | undefined,
  timestamp: ({ fields }: Row) => fields.timestamp as number | undefined,
  class: (row: Row) => row.class,
  tools: ({ tools }: Row) => JSON.stringify(tools),
  text_head: ({ textHead }: Row) => textHead,
  parts_head: ({ partsHead }: Row) => partsHead,
  updated_at: ({ updatedAt }: Row) => updatedAt,
  revision: ({ revision }: Row) => revision,
}

const inserted = messagesTable.unnest<NewRow>({
  ...cells,
  id: ({ traceId, externalId }) => messageId(traceId, externalId),
  external_id: ({ externalId }) => externalId,
  created_at: ({ createdAt }) => createdAt,
})

const updated = messagesTable.unnest<Row>(cells, ['role', 'parts_head'])

const insert = (rows: readonly NewRow[], write: WriteStatement) =>
  write(
    'messages-insert',
    `insert into messages (incarnation, ${inserted.columns})
     select ${required(PRESENT_INCARNATION, 'int8', 'u.trace_id')}, u.* from ${inserted.as('u')}`,
    inserted.values(rows),
  )

// Null stands for a field that the patch does not change: a field that is set can never be removed again.
const writeUpdates = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'messages-update',
    `update messages m set role = coalesce(u.role, m.role), text_content = coalesce(u.text_content, m.text_content),
       model = coalesce(u.model, m.model), sequence = coalesce(u.sequence, m.sequence),
       timestamp = coalesce(u.timestamp, m.timestamp), class = u.class, tools = u.tools,
       text_head = coalesce(u.text_head, m.text_head), parts_head = coalesce(u.parts_head, m.parts_head),
       updated_at = u.updated_at, revision = u.revision
     from ${updated.as('u')}
       ${byKey('messages', `r.trace_id = u.trace_id and r.incarnation = ${PRESENT_INCARNATION} and r.ordinal = u.ordinal`)}
     where m.ctid = found.ctid`,
    updated.values(rows),
  )

// The first and the last entry of an index: nothing else of the trace is read.
const extreme = (order: 'asc' | 'desc') => `(
  select m.timestamp from messages m where m.trace_id = t.id and m.incarnation = t.incarnation and m.timestamp is not null
  order by m.timestamp ${order} limit 1)`

/** When traces began and ended, anew: a message may have had the first or last timestamp, and has another one now. */
const writeTimes = (traceIds: readonly string[], write: WriteStatement) =>
  write(
    'messages-times',
    `update traces t set started_at = ${extreme('asc')}, ended_at = ${extreme('desc')}
     from unnest($1::uuid[]) u (id) ${byKey('traces', 'r.id = u.id')} where t.ctid = found.ctid`,
    [uuids(traceIds)],
  )

/** One row for each message, without its parts. The rows of deleted traces are swept later (`leftovers.ts`). */
export const messages = projectionOf<TraceEvent>()<Changes>({
  name: 'messages',
  // No statistics of what clients write: a sample of it would outlive the erasure. Messages are looked up by their ids.
  tables: `${messagesTable.create}
    alter table messages alter text_content set storage external;
    alter table messages alter external_id set statistics 0;`,
  rows: { messages: { trace: 'trace_id' } },
  // The second index is the order of lists, the third finds what has changed since a revision, the fourth when a trace began and ended. The primary key is made last: on an empty table all indexes seem equally good, the planner then takes the newest, and keeps the plan.
  indexes: `
    create unique index messages_id on messages (trace_id, incarnation, id);
    create index messages_listed on messages (trace_id, incarnation, ${listOrder('sequence', 'timestamp')}, ordinal);
    create index messages_changed on messages (trace_id, incarnation, revision);
    create index messages_timed on messages (trace_id, incarnation, timestamp) where timestamp is not null;
    alter table messages drop constraint messages_pkey, add primary key (trace_id, incarnation, ordinal);`,
  start: () => ({ added: newRows<NewRow>(keyOf), updated: new Map(), retimed: new Set() }),
  on: {
    MessageAdded: ({ added }, { streamId: traceId, at, revision, data }) => {
      const { externalId, ordinal, class: kind, tools, heads = headsOf(data) } = data
      const counted = { class: kind, tools }
      const textHead = heads.text && textHeadLine(heads.text)
      const partsHead = partsHeadLine(heads.parts ?? NO_PARTS)
      const times = { createdAt: at, updatedAt: at, revision }
      added.add({ traceId, ordinal, externalId, fields: scalarsOf(data), textHead, partsHead, ...counted, ...times })
    },
    MessageUpdated: ({ added, updated, retimed }, event) => {
      const { streamId: traceId, revision, data } = event
      if (timestampIn(data.patch)?.op === 'replace') retimed.add(traceId)
      const key = keyOf({ traceId, ordinal: data.ordinal })
      let row: Row | undefined = added.find(key) ?? updated.get(key)
      if (!row) {
        const heads = { textHead: undefined, partsHead: undefined }
        row = { traceId, ordinal: data.ordinal, fields: {}, class: '', tools: [], ...heads, updatedAt: 0, revision }
        updated.set(key, row)
      }
      update(row, event)
    },
    TraceDeleted: ({ added, updated, retimed }, { streamId: id }) => {
      retimed.delete(id)
      added.removeAll(({ traceId }) => traceId === id)
      forget(updated, id)
    },
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ added, updated, retimed }, write) => {
    if (added.all().length > 0) insert(added.all(), write)
    if (updated.size > 0) writeUpdates([...updated.values()], write)
    if (retimed.size > 0) writeTimes([...retimed], write)
  },
})
