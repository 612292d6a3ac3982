import { projectionOf, type DecodedEvent, type WriteStatement } from '../src/eventstore/engine/projection.ts'
import { messageId } from '../src/base/ids.ts'
import { int8s, uuids } from '../src/eventstore/postgres/arrays.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import {
  NO_PARTS,
  type PartsHead,
  type TextHead,
  headOfText,
  partsHeadLine,
  textHeadLine,
} from '../src/server/trace/messages/heads.ts'
import { factsLine } from '../src/server/trace/messages/facts.ts'
import { headsOf, isOfUsage, partIndex, timestampIn } from '../src/server/trace/messages/message.ts'
import {
  type AddedEvent,
  type Block,
  type RestatedEvent,
  type NewBlocks,
  type PlaceInBlock,
  newBlocks,
} from './support/blocks.ts'
import { literal } from './support/changed-rows.ts'
import { PRESENT_INCARNATION, byKey, required } from './support/sql.ts'
import { listOrder, messageBlocksTable, messagesTable } from '../src/tables/main.ts'

type Updated = Extract<TraceEvent, { type: 'MessageUpdated' }>

/** A message that is added, or restated in an incarnation that queries do not show yet. */
type NewRow = PlaceInBlock & {
  readonly event: AddedEvent | RestatedEvent
  readonly text: TextHead | undefined
  readonly parts: PartsHead
}

/** The changes of a message in a batch. Undefined means unchanged. */
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

type NewRows = { rows: NewRow[]; readonly blocks: NewBlocks }

type Changes = {
  readonly added: NewRows
  readonly restated: NewRows
  readonly updated: Map<string, Row>
  /** The ids of traces with a message whose timestamp was replaced. */
  readonly retimed: Set<string>
}

/** The number of parts after a patch, which adds and removes parts only at the end. Undefined if the patch does neither. */
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
  if (data.parts) {
    row.partsHead = partsHeadLine(data.parts)
    row.partsLength = data.parts.length
  }
  row.class = data.class
  row.tools = data.tools
  if (!isOfUsage(data.patch)) row.updatedAt = at
  row.revision = revision
}

const forget = (rows: Map<string, Row>, traceId: string) => {
  for (const [key, row] of rows) if (row.traceId === traceId) rows.delete(key)
}

const noRows = (): NewRows => ({ rows: [], blocks: newBlocks() })

const add = ({ rows, blocks }: NewRows, event: AddedEvent | RestatedEvent) => {
  const { text, parts = NO_PARTS } = event.data.heads ?? headsOf(event.data)
  rows.push({ event, text, parts, ...blocks.add(event) })
}

/** Forgets what a batch changes of the present messages of a trace. */
const forgetAll = ({ added, updated }: Changes, { streamId: id }: DecodedEvent) => {
  added.blocks.removeAll(id)
  added.rows = added.rows.filter(({ event }) => event.streamId !== id)
  forget(updated, id)
}

const usageText = (usage: unknown) => (usage === undefined ? undefined : JSON.stringify(usage))

const cells = {
  added: ({ event }: NewRow) => event.revision,
  ordinal: ({ event }: NewRow) => event.data.ordinal,
  id: ({ event }: NewRow) => messageId(event.streamId, event.data.externalId),
  external_id: ({ event }: NewRow) => event.data.externalId,
  role: ({ event }: NewRow) => event.data.role,
  text_content: ({ event }: NewRow) => literal(event.data.textContent),
  model: ({ event }: NewRow) => literal(event.data.model),
  sequence: ({ event }: NewRow) => event.data.order,
  timestamp: ({ event }: NewRow) => event.data.timestamp,
  usage: ({ event }: NewRow) => usageText(event.data.usage),
  class: ({ event }: NewRow) => event.data.class,
  tools: ({ event }: NewRow) => JSON.stringify(event.data.tools),
  text_head: ({ text }: NewRow) => text && textHeadLine(text),
  parts_head: ({ parts }: NewRow) => partsHeadLine(parts),
  part_count: ({ parts }: NewRow) => parts.count,
  parts_length: ({ parts }: NewRow) => parts.length,
  heads_at: ({ headsAt }: NewRow) => headsAt,
  parts_at: ({ partsAt }: NewRow) => partsAt,
  parts_end: ({ partsEnd }: NewRow) => partsEnd,
  facts: ({ event }: NewRow) => factsLine(event.data.parts.map(({ fact }) => fact)),
}

/** Columns that are equal in all messages of a block are parameters once for each block: `block` is its number in the batch. */
const inserted = messagesTable.unnest<NewRow & { readonly number: number }>({ block: ({ number }) => number, ...cells })

type Restated = NewRow & { readonly event: RestatedEvent }

const insertedRestated = messagesTable.unnest<Restated>({
  ...cells,
  trace_id: ({ event }) => event.streamId,
  incarnation: ({ event }) => event.data.since,
  created_at: ({ event }) => event.data.createdAt,
  updated_at: ({ event }) => event.data.updatedAt,
  revision: ({ event }) => event.revision,
  block: ({ block }) => block.revision,
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
    usage: ({ fields }) => usageText(fields.usage),
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

const blockCells = {
  trace_id: ({ traceId }: Block) => traceId,
  revision: ({ revision }: Block) => revision,
  first: ({ first }: Block) => first,
  body: ({ body }: Block) => body,
}
const insertedBlocks = messageBlocksTable.unnest<Block>(blockCells)
const insertedRestatedBlocks = messageBlocksTable.unnest<Block>({
  ...blockCells,
  incarnation: ({ incarnation }) => incarnation,
})

// Values of a block are looked up once, not for each of its messages.
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
  const values = inserted.values(rows.map((row) => ({ ...row, number: numbers.get(row.block)! })))
  write('messages-insert', insertMessages, [...values, ...ofBlocks])
  write('messages-blocks', insertBlocks, insertedBlocks.values(blocks))
}

const insertRestated = (rows: readonly Restated[], blocks: readonly Block[], write: WriteStatement) => {
  write('messages-restate', insertedRestated.insert, insertedRestated.values(rows))
  write('messages-restate-blocks', insertedRestatedBlocks.insert, insertedRestatedBlocks.values(blocks))
}

// Null means that the patch does not change a field: a field that is set is never removed.
const writeUpdates = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'messages-update',
    `update messages m set role = coalesce(u.role, m.role), text_content = coalesce(u.text_content, m.text_content),
       model = coalesce(u.model, m.model), sequence = coalesce(u.sequence, m.sequence),
       timestamp = coalesce(u.timestamp, m.timestamp), usage = coalesce(u.usage, m.usage), class = u.class, tools = u.tools,
       text_head = coalesce(u.text_head, m.text_head), parts_head = coalesce(u.parts_head, m.parts_head),
       part_count = coalesce(u.part_count, m.part_count), parts_length = coalesce(u.parts_length, m.parts_length),
       updated_at = greatest(m.updated_at, u.updated_at), revision = u.revision
     from ${updated.as('u')}
       ${byKey('messages', `r.trace_id = u.trace_id and r.incarnation = ${PRESENT_INCARNATION} and r.ordinal = u.ordinal`)}
     where m.ctid = found.ctid`,
    updated.values(rows),
  )

// Reads only the first or the last entry of an index.
const extreme = (order: 'asc' | 'desc') => `(
  select m.timestamp from messages m where m.trace_id = t.id and m.incarnation = t.incarnation and m.timestamp is not null
  order by m.timestamp ${order} limit 1)`

/** Looks up when traces began and ended, because a message may have had the first or last timestamp, which was replaced. */
const writeTimes = (traceIds: readonly string[], write: WriteStatement) =>
  write(
    'messages-times',
    `update traces t set started_at = ${extreme('asc')}, ended_at = ${extreme('desc')}
     from unnest($1::uuid[]) u (id) ${byKey('traces', 'r.id = u.id')} where t.ctid = found.ctid`,
    [uuids(traceIds)],
  )

/**
 * One row for each message, and blocks with the parts of several new messages. The rows of deleted traces are swept later
 * (`obsolete-rows.ts`).
 */
export const messages = projectionOf<TraceEvent>()<Changes>({
  name: 'messages',
  // No statistics of content of clients: their samples would outlive an erasure. No plan needs them.
  tables: `${messagesTable.create}
    alter table messages alter text_content set storage external;
    alter table messages alter text_content set statistics 0;
    alter table messages alter external_id set statistics 0;
    alter table messages alter facts set storage external;
    alter table messages alter facts set statistics 0;
    ${messageBlocksTable.create}
    alter table message_blocks alter body set storage external;
    alter table message_blocks alter body set statistics 0;`,
  rows: { messages: { trace: 'trace_id' }, message_blocks: { trace: 'trace_id' } },
  // The second index is the order of lists, the third one finds messages that have changed since they were added, the fourth one the
  // times of a trace. The primary key comes last: on an empty table all indexes seem equal, and the planner keeps a plan with the newest.
  indexes: `
    create unique index messages_id on messages (trace_id, incarnation, id);
    create index messages_listed on messages (trace_id, incarnation, ${listOrder('sequence', 'timestamp')}, ordinal);
    create index messages_changed on messages (trace_id, incarnation, revision) where revision <> added;
    create index messages_timed on messages (trace_id, incarnation, timestamp) where timestamp is not null;
    alter table messages drop constraint messages_pkey, add primary key (trace_id, incarnation, ordinal);`,
  start: () => ({ added: noRows(), restated: noRows(), updated: new Map(), retimed: new Set() }),
  on: {
    MessageAdded: ({ added }, event) => add(added, event),
    MessageRestated: ({ restated }, event) => add(restated, event),
    // The restated messages become the present ones; their timestamps say when the trace began and ended.
    HistoryErased: (changes, event) => {
      forgetAll(changes, event)
      changes.retimed.add(event.streamId)
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
    TraceDeleted: (changes, event) => {
      forgetAll(changes, event)
      changes.retimed.delete(event.streamId)
    },
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ added, restated, updated, retimed }, write) => {
    if (added.rows.length > 0) insert(added.rows, added.blocks.all(), write)
    if (restated.rows.length > 0) insertRestated(restated.rows as Restated[], restated.blocks.all(), write)
    if (updated.size > 0) writeUpdates([...updated.values()], write)
    if (retimed.size > 0) writeTimes([...retimed], write)
  },
})
