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
import { tableOf } from '../src/tables/table.ts'
import { answerOf } from '../src/tables/usage.ts'

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
  /** The position of the last event that changes the usage. */
  usedAt: bigint | undefined
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

const update = (row: Row, { data, at, revision, position }: DecodedEvent<Updated>) => {
  for (const operation of data.patch) {
    if (partIndex(operation.path) !== undefined || operation.op === 'remove') continue
    row.fields[operation.path.slice(1)] = operation.value
    if (operation.path === '/usage') row.usedAt = position
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

/** The rows with an answer of a provider that no row before them has, of the same trace and its same incarnation. */
const firstWithAnswer = (rows: readonly NewRow[]): ReadonlySet<NewRow> => {
  const answers = new Set<string>()
  return new Set(
    rows.filter(({ event: { streamId, data }, block }) => {
      if (data.usage?.responseId === undefined) return false
      const before = answers.size
      return answers.add(`${streamId} ${block.incarnation} ${data.usage.responseId}`).size > before
    }),
  )
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

/** A message as it is inserted: `isFirst` says whether it may be the first one with its answer. */
type InsertedRow = NewRow & { readonly isFirst: boolean }

/** Values from which SQL makes those of the table. */
const ofUsage = {
  used_at: ({ event }: InsertedRow) => (event.data.usage ? event.position : undefined),
  is_first: ({ isFirst }: InsertedRow) => isFirst,
}

/** Columns that are equal in all messages of a block are parameters once for each block: `block` is its number in the batch. */
const inserted = tableOf('messages', {
  ...messagesTable.columns,
  used_at: 'int8',
  is_first: 'bool',
}).unnest<InsertedRow & { readonly number: number }>({ block: ({ number }) => number, ...ofUsage, ...cells })

type Restated = InsertedRow & { readonly event: RestatedEvent }

const insertedRestated = tableOf('messages', {
  ...messagesTable.columns,
  priced: 'text',
  namespace_id: 'uuid',
  is_first: 'bool',
}).unnest<Restated>({
  priced: ({ event }) => event.data.priced,
  namespace_id: ({ event }) => event.data.namespaceId,
  is_first: ({ isFirst }) => isFirst,
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
    prices: ({ usedAt }) => usedAt,
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

/** SQL for the position of the last change of the model registry before the event at a position; null for none. */
const pricesBefore = (position: string) => `
  case when ${position} is not null then coalesce(
    (select p.position from price_changes p where p.position < ${position} order by p.position desc limit 1), 0
  ) end`

/**
 * SQL for the answer of a new message `u`, if it is the first of its trace that has it. It is looked up: a join would read the answers of all messages
 * for each until the table is analyzed.
 */
const firstAnswer = (namespaceId: string, traceId: string, incarnation: string) => `
  case when u.is_first then (
    select a.answer from (select ${answerOf(namespaceId, 'u.usage')} as answer offset 0) a
    where (
      select true from messages r
      where r.answer = a.answer and r.trace_id = ${traceId} and r.incarnation = ${incarnation} limit 1
    ) is null
  ) end`

/** The names of columns but for some of them. */
const without = (columns: string, ...left: readonly string[]) =>
  columns
    .split(', ')
    .filter((column) => !left.includes(column))
    .join(', ')

// Values of a block are looked up once, not for each of its messages.
const insertMessages = (() => {
  const [ids, revisions, times] = [1, 2, 3].map((nth) => `$${inserted.count + nth}`) as [string, string, string]
  const own = without(inserted.columns, 'block', 'used_at', 'is_first')
  return `
    with blocks as materialized (
      select u.nth, u.trace_id, t.namespace_id, u.revision, u.at,
        ${required('t.incarnation', 'int8', 'u.trace_id')} as incarnation
      from unnest(${ids}::uuid[], ${revisions}::int8[], ${times}::int8[]) with ordinality u (trace_id, revision, at, nth)
      left join lateral (select * from traces r where r.id = u.trace_id limit 1) t on true
    )
    insert into messages (trace_id, incarnation, created_at, updated_at, block, revision, prices, answer, ${own})
    select b.trace_id, b.incarnation, b.at, b.at, b.revision, u.added, ${pricesBefore('u.used_at')},
      ${firstAnswer('b.namespace_id', 'b.trace_id', 'b.incarnation')}, ${own}
    from ${inserted.as('u')} join blocks b on b.nth = u.block`
})()

const insertRestatedMessages = (() => {
  const own = without(insertedRestated.columns, 'priced', 'namespace_id', 'is_first')
  const changed =
    '(select c.position from price_changes c where c.append_id = u.priced order by c.position desc limit 1)'
  return `
    insert into messages (prices, answer, ${own})
    select case when u.usage is not null then coalesce(${changed}, 0) end,
      ${firstAnswer('u.namespace_id', 'u.trace_id', 'u.incarnation')}, ${own}
    from ${insertedRestated.as('u')}`
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
  const first = firstWithAnswer(rows)
  const values = inserted.values(
    rows.map((row) => ({ ...row, isFirst: first.has(row), number: numbers.get(row.block)! })),
  )
  write('messages-insert', insertMessages, [...values, ...ofBlocks])
  write('messages-blocks', insertBlocks, insertedBlocks.values(blocks))
}

const insertRestated = (rows: readonly NewRow[], blocks: readonly Block[], write: WriteStatement) => {
  const first = firstWithAnswer(rows)
  const values = rows.map((row) => ({ ...row, isFirst: first.has(row) }) as Restated)
  write('messages-restate', insertRestatedMessages, insertedRestated.values(values))
  write('messages-restate-blocks', insertedRestatedBlocks.insert, insertedRestatedBlocks.values(blocks))
}

// Null means that the patch does not change a field: a field that is set is never removed.
const writeUpdates = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'messages-update',
    `update messages m set role = coalesce(u.role, m.role), text_content = coalesce(u.text_content, m.text_content),
       model = coalesce(u.model, m.model), sequence = coalesce(u.sequence, m.sequence),
       timestamp = coalesce(u.timestamp, m.timestamp), usage = coalesce(u.usage, m.usage),
       prices = coalesce(${pricesBefore('u.prices')}, m.prices), class = u.class, tools = u.tools,
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
    create index messages_answers on messages (answer, trace_id, incarnation) where answer is not null;
    create index messages_repeated on messages (trace_id, incarnation)
      where answer is null and usage ->> 'responseId' is not null;
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
        const begun = { traceId, ordinal: data.ordinal, fields: {}, class: '', tools: [], updatedAt: 0, revision }
        row = { ...begun, ...heads, usedAt: undefined }
        updated.set(key, row)
      }
      update(row, event)
    },
    TraceDeleted: (changes, event) => {
      forgetAll(changes, event)
      changes.retimed.delete(event.streamId)
    },
    TraceCreated: 'ignored',
    TraceArriving: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ added, restated, updated, retimed }, write) => {
    // Messages that are added to a restated trace come after those that were restated.
    if (restated.rows.length > 0) insertRestated(restated.rows, restated.blocks.all(), write)
    if (added.rows.length > 0) insert(added.rows, added.blocks.all(), write)
    if (updated.size > 0) writeUpdates([...updated.values()], write)
    if (retimed.size > 0) writeTimes([...retimed], write)
  },
})
