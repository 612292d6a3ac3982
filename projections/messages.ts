import { projectionOf, type DecodedEvent, type WriteStatement } from '../src/engine/projection.ts'
import { messageId } from '../src/base/ids.ts'
import { int8s, uuids } from '../src/postgres/arrays.ts'
import type { TraceEvent } from '../src/trace/events.ts'
import {
  NO_PARTS,
  type PartsHead,
  type TextHead,
  headOfText,
  partsHeadLine,
  textHeadLine,
} from '../src/trace/messages/heads.ts'
import { headsOf, partIndex, timestampIn } from '../src/trace/messages/message.ts'
import { type AddedEvent, type Block, type NewBlocks, type Place, newBlocks } from './support/blocks.ts'
import { literal } from './support/changed-rows.ts'
import { PRESENT_INCARNATION, byKey, required } from './support/sql.ts'
import { listOrder, messageBlocksTable, messagesTable } from './tables.ts'

type Updated = Extract<TraceEvent, { type: 'MessageUpdated' }>

type NewRow = Place & { readonly event: AddedEvent; readonly text: TextHead | undefined; readonly parts: PartsHead }

/** What a batch changes of a message. Undefined stands for what stays as it is. */
type Row = {
  readonly traceId: string
  readonly ordinal: number
  readonly fields: Record<string, unknown>
  class: string
  tools: readonly string[]
  textHead: string | undefined
  partsHead: string | undefined
  partCount: number | undefined
  partsLength: number | undefined
  updatedAt: number
  revision: bigint
}

type Changes = {
  added: NewRow[]
  readonly blocks: NewBlocks
  readonly updated: Map<string, Row>
  /** The ids of traces of which a message has another timestamp instead of one that it had. */
  readonly retimed: Set<string>
}

/** How many parts a patch leaves: those that it removes are the last ones. Undefined where it does not change that. */
const countAfter = (patch: Updated['data']['patch']): number | undefined => {
  let count: number | undefined
  for (const { op, path } of patch) {
    const index = partIndex(path)
    if (index !== undefined && op === 'remove') count = index
    else if (index !== undefined && op === 'add') count = index + 1
  }
  return count
}

const update = (row: Row, { data, at, revision }: DecodedEvent<Updated>) => {
  for (const operation of data.patch) {
    if (partIndex(operation.path) !== undefined || operation.op === 'remove') continue
    row.fields[operation.path.slice(1)] = operation.value
    if (operation.path === '/textContent') row.textHead = textHeadLine(headOfText(operation.value as string))
  }
  row.partCount = countAfter(data.patch) ?? row.partCount
  if (data.parts === 'unknown') row.partsHead = ''
  else if (data.parts) {
    row.partsHead = partsHeadLine(data.parts)
    row.partsLength = data.parts.length
  }
  row.class = data.class
  row.tools = data.tools
  row.updatedAt = at
  row.revision = revision
}

const forget = (rows: Map<string, Row>, traceId: string) => {
  for (const [key, row] of rows) if (row.traceId === traceId) rows.delete(key)
}

/** What all messages of a block have in common is given once: `block` is its number in the batch. */
const inserted = messagesTable.unnest<readonly [NewRow, block: number]>({
  block: ([, block]) => block,
  added: ([{ event }]) => event.revision,
  ordinal: ([{ event }]) => event.data.ordinal,
  id: ([{ event }]) => messageId(event.streamId, event.data.externalId),
  external_id: ([{ event }]) => event.data.externalId,
  role: ([{ event }]) => event.data.role,
  text_content: ([{ event }]) => literal(event.data.textContent),
  model: ([{ event }]) => literal(event.data.model),
  sequence: ([{ event }]) => event.data.order,
  timestamp: ([{ event }]) => event.data.timestamp,
  class: ([{ event }]) => event.data.class,
  tools: ([{ event }]) => JSON.stringify(event.data.tools),
  text_head: ([{ text }]) => text && textHeadLine(text),
  parts_head: ([{ parts }]) => partsHeadLine(parts),
  part_count: ([{ parts }]) => parts.count,
  parts_length: ([{ parts }]) => parts.length,
  heads_at: ([{ headsAt }]) => headsAt,
  parts_at: ([{ partsAt }]) => partsAt,
  parts_end: ([{ partsEnd }]) => partsEnd,
})

const updated = messagesTable.unnest<Row>(
  {
    trace_id: ({ traceId }) => traceId,
    ordinal: ({ ordinal }) => ordinal,
    role: ({ fields }) => fields.role as string | undefined,
    text_content: ({ fields }) => literal(fields.textContent),
    model: ({ fields }) => literal(fields.model),
    sequence: ({ fields }) => fields.order as number | undefined,
    timestamp: ({ fields }) => fields.timestamp as number | undefined,
    class: (row) => row.class,
    tools: ({ tools }) => JSON.stringify(tools),
    text_head: ({ textHead }) => textHead,
    parts_head: ({ partsHead }) => partsHead,
    part_count: ({ partCount }) => partCount,
    parts_length: ({ partsLength }) => partsLength,
    updated_at: ({ updatedAt }) => updatedAt,
    revision: ({ revision }) => revision,
  },
  ['role', 'parts_head', 'part_count', 'parts_length'],
)

const insertedBlocks = messageBlocksTable.unnest<Block>({
  trace_id: ({ traceId }) => traceId,
  revision: ({ revision }) => revision,
  first: ({ first }) => first,
  body: ({ body }) => body,
})

// What is looked up for a block is looked up once, not for each of its messages.
const insertMessages = (() => {
  const [ids, revisions, times] = [1, 2, 3].map((nth) => `$${inserted.count + nth}`) as [string, string, string]
  const own = inserted.columns.replace('block, ', '')
  return `
    insert into messages (trace_id, incarnation, created_at, updated_at, block, revision, ${own})
    select (${ids}::uuid[])[u.block],
      (array(
        select ${required(PRESENT_INCARNATION, 'int8', 'u.trace_id')}
        from unnest(${ids}::uuid[]) with ordinality u (trace_id, nth) order by u.nth
      ))[u.block],
      (${times}::int8[])[u.block], (${times}::int8[])[u.block], (${revisions}::int8[])[u.block], u.added, ${own}
    from ${inserted.as('u')}`
})()

const insertBlocks = `
  insert into message_blocks (incarnation, ${insertedBlocks.columns})
  select ${required(PRESENT_INCARNATION, 'int8', 'u.trace_id')}, u.* from ${insertedBlocks.as('u')}`

const insert = (rows: readonly NewRow[], blocks: readonly Block[], write: WriteStatement) => {
  const numbers = new Map(blocks.map((block, i) => [block, i + 1]))
  const ofBlocks = [
    uuids(blocks.map(({ traceId }) => traceId)),
    int8s(blocks.map(({ revision }) => revision)),
    int8s(blocks.map(({ at }) => at)),
  ]
  const values = inserted.values(rows.map((row) => [row, numbers.get(row.block)!] as const))
  write('messages-insert', insertMessages, [...values, ...ofBlocks])
  write('messages-blocks', insertBlocks, insertedBlocks.values(blocks))
}

// Null stands for a field that the patch does not change: a field that is set can never be removed again.
const writeUpdates = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'messages-update',
    `update messages m set role = coalesce(u.role, m.role), text_content = coalesce(u.text_content, m.text_content),
       model = coalesce(u.model, m.model), sequence = coalesce(u.sequence, m.sequence),
       timestamp = coalesce(u.timestamp, m.timestamp), class = u.class, tools = u.tools,
       text_head = coalesce(u.text_head, m.text_head), parts_head = coalesce(u.parts_head, m.parts_head),
       part_count = coalesce(u.part_count, m.part_count), parts_length = coalesce(u.parts_length, m.parts_length),
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

/**
 * One row for each message, and its parts as it came in blocks of several messages. The rows of deleted traces are swept later
 * (`obsolete-rows.ts`).
 */
export const messages = projectionOf<TraceEvent>()<Changes>({
  name: 'messages',
  // No statistics of what clients write: a sample of it would outlive the erasure. Messages are looked up by their ids.
  tables: `${messagesTable.create}
    alter table messages alter text_content set storage external;
    alter table messages alter external_id set statistics 0;
    ${messageBlocksTable.create}
    alter table message_blocks alter body set storage external;
    alter table message_blocks alter body set statistics 0;`,
  rows: { messages: { trace: 'trace_id' }, message_blocks: { trace: 'trace_id' } },
  // The second index is the order of lists, the third finds what has changed after it was added, the fourth when a trace began and ended. The primary key is made last: on an empty table all indexes seem equally good, the planner then takes the newest, and keeps the plan.
  indexes: `
    create unique index messages_id on messages (trace_id, incarnation, id);
    create index messages_listed on messages (trace_id, incarnation, ${listOrder('sequence', 'timestamp')}, ordinal);
    create index messages_changed on messages (trace_id, incarnation, revision) where revision <> added;
    create index messages_timed on messages (trace_id, incarnation, timestamp) where timestamp is not null;
    alter table messages drop constraint messages_pkey, add primary key (trace_id, incarnation, ordinal);`,
  start: () => ({ added: [], blocks: newBlocks(), updated: new Map(), retimed: new Set() }),
  on: {
    MessageAdded: ({ added, blocks }, event) => {
      const { text, parts = NO_PARTS } = event.data.heads ?? headsOf(event.data)
      added.push({ event, text, parts, ...blocks.add(event) })
    },
    MessageUpdated: ({ updated, retimed }, event) => {
      const { streamId: traceId, revision, data } = event
      if (timestampIn(data.patch)?.op === 'replace') retimed.add(traceId)
      const key = `${traceId}/${data.ordinal}`
      let row = updated.get(key)
      if (!row) {
        const heads = { textHead: undefined, partsHead: undefined, partCount: undefined, partsLength: undefined }
        row = { traceId, ordinal: data.ordinal, fields: {}, class: '', tools: [], ...heads, updatedAt: 0, revision }
        updated.set(key, row)
      }
      update(row, event)
    },
    TraceDeleted: (changes, { streamId: id }) => {
      changes.retimed.delete(id)
      changes.blocks.removeAll(id)
      changes.added = changes.added.filter(({ event }) => event.streamId !== id)
      forget(changes.updated, id)
    },
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ added, blocks, updated, retimed }, write) => {
    if (added.length > 0) insert(added, blocks.all(), write)
    if (updated.size > 0) writeUpdates([...updated.values()], write)
    if (retimed.size > 0) writeTimes([...retimed], write)
  },
})
