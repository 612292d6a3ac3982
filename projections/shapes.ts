import {
  type DecodedEvent,
  type ReadRows,
  type Sender,
  type WriteStatement,
  projectionOf,
} from '../src/eventstore/engine/projection.ts'
import { int4s, uuids } from '../src/eventstore/postgres/arrays.ts'
import type { SessionShape } from '../src/contract/trace.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import { type KeptShape, type ListedMessage, ShapeBuilder, bySortKeys } from '../src/server/trace/kept-shape.ts'
import { type FactsRow, factsColumns, factsOfMessage, factsOfRow } from '../src/server/trace/messages/message-facts.ts'
import { BoundedMap } from '../src/base/bounded-map.ts'
import { type Counted, deleteCounts, writeCounted } from './counts.ts'
import { type Failures, type Reconsidered, deleteFailures, writeFailures } from './failed-calls.ts'
import { countsTable, listOrder, shapeStatesTable } from '../src/tables/main.ts'
import { failedCallsTable, quarterOf, slotOf } from '../src/tables/usage.ts'

/** Stands for no ordinal: it is the highest one that a column can have. */
const NO_ORDINAL = 2 ** 31 - 1

type Added = Extract<TraceEvent, { type: 'MessageAdded' }>

/** The messages of a trace that a batch changes. */
type ChangedMessages = {
  /** The lowest ordinal of the changed messages that an earlier batch has added; `NO_ORDINAL` if there are none. */
  lowest: number
  /** The new messages. Undefined if the batch has changed one of them after adding it: then they are read. */
  added: ListedMessage[] | undefined
}

type Changes = {
  readonly changed: Map<string, ChangedMessages>
  /** The last counts of each trace in the batch. */
  readonly counted: Map<string, Counted>
  readonly deleted: Set<string>
}

type KeptRow = { trace_id: string; up_to: number; state: string }

type ListedRow = FactsRow & {
  trace_id: string
  ordinal: number
  sequence: number
  timestamp: number
  tools: string
  slot: bigint
}

/** With more messages than this after what is kept, a trace is read from its beginning, with a cursor. */
const MOST_AFTER_KEPT = 2_000
/** How many messages the cursor returns at once. */
const CHUNK = 500

const columns = `
  m.trace_id, m.ordinal, coalesce(m.sequence, 'infinity') as sequence, coalesce(m.timestamp, 'infinity') as timestamp,
  m.tools, ${slotOf('m')} as slot,
  ${factsColumns}`

const keptStatement = `
  select s.trace_id, s.up_to, s.state from unnest($1::uuid[]) u (id)
  cross join lateral (select * from shape_states r where r.trace_id = u.id limit 1) s`

// In the order of the primary key: the index in the order of the list would be read from its beginning.
const afterKeptStatement = `
  select f.* from unnest($1::uuid[], $2::int4[], $3::int4[]) u (id, lowest, before)
  cross join lateral (select r.id, r.incarnation from traces r where r.id = u.id limit 1) t
  left join lateral (select r.up_to from shape_states r where r.trace_id = u.id and r.up_to <= u.lowest limit 1) s on true
  cross join lateral (
    select ${columns} from messages m
    where m.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal >= coalesce(s.up_to, 0)
      and m.ordinal < u.before
    order by m.ordinal limit ${MOST_AFTER_KEPT + 1}
  ) f`

const allStatement = `
  declare facts no scroll cursor for
  select ${columns} from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
  where t.id = $1 order by ${listOrder('m.sequence', 'm.timestamp')}, m.ordinal`

const toListed = (row: ListedRow): ListedMessage => ({
  sequence: row.sequence,
  timestamp: row.timestamp,
  ordinal: row.ordinal,
  tools: JSON.parse(row.tools) as string[],
  slot: Number(row.slot),
  ...factsOfRow(row),
})

/** The new shape of a trace, with the calls that have failed. */
type NewShape = Failures & {
  readonly shape: SessionShape
  /** What the table has kept of it before this batch. */
  readonly before: KeptShape | undefined
  /** What the table is to keep now. */
  readonly kept: KeptShape | undefined
}

/** What a database session remembers of a trace: the shape of all its messages so far, and what is kept in the table. */
type Remembered = { readonly builder: ShapeBuilder; readonly kept: KeptShape | undefined }

/** How many traces are remembered: new messages of these need no read. */
const MOST_REMEMBERED = 128
const memories = new WeakMap<object, BoundedMap<string, Remembered>>()

const memoryOf = (session: object): BoundedMap<string, Remembered> => {
  let memory = memories.get(session)
  if (!memory) memories.set(session, (memory = new BoundedMap(MOST_REMEMBERED)))
  return memory
}

/**
 * Adds new messages to the shape that is remembered. Returns undefined if older messages have changed, or if the transaction that is
 * remembered was rolled back: then the first new message does not have the next ordinal.
 */
const fromMemory = ({ builder }: Remembered, { lowest, added }: ChangedMessages): ShapeBuilder | undefined => {
  const messages = added?.toSorted(bySortKeys) ?? []
  if (lowest !== NO_ORDINAL || added?.[0]?.ordinal !== builder.count || !builder.comesAfter(messages[0]!))
    return undefined
  builder.add(messages)
  return builder
}

/** Adds the messages after the kept ones to what is kept. Returns undefined if all messages have to be read. */
const fromKept = (
  kept: KeptShape | undefined,
  rows: readonly ListedRow[],
  added: readonly ListedMessage[],
): ShapeBuilder | undefined => {
  const messages = [...rows.map(toListed), ...added].sort(bySortKeys)
  if (messages.length === 0 || rows.length > MOST_AFTER_KEPT) return undefined
  const builder = new ShapeBuilder(kept)
  if (!builder.comesAfter(messages[0]!)) return undefined
  builder.add(messages)
  return builder
}

const fromAll = async (id: string, read: ReadRows): Promise<ShapeBuilder> => {
  const builder = new ShapeBuilder()
  await read('', allStatement, [id])
  for (;;) {
    const rows = await read<ListedRow>('', `fetch ${CHUNK} from facts`, [])
    if (rows.length === 0) break
    builder.add(rows.map(toListed))
  }
  await read('', 'close facts', [])
  return builder
}

type StateRow = { readonly id: string; readonly kept: KeptShape }

const states = shapeStatesTable.unnest<StateRow>({
  trace_id: ({ id }) => id,
  up_to: ({ kept }) => kept.upTo,
  state: ({ kept }) => kept.state,
})

const writeStates = (kept: readonly StateRow[], write: WriteStatement) =>
  write(
    'shapes-states',
    `${states.insert} on conflict (trace_id) do update set up_to = excluded.up_to, state = excluded.state`,
    states.values(kept),
  )

const deleteStates = (ids: readonly string[], write: WriteStatement) =>
  write('shapes-delete', 'delete from shape_states where trace_id = any($1::uuid[])', [uuids(ids)])

const writeAll = ({ counted }: Changes, made: readonly NewShape[], write: WriteStatement) => {
  writeCounted(counted, made, write)
  writeFailures(made, write)
  const moved = made.filter(({ before, kept }) => kept !== before)
  const kept = moved.filter((one): one is NewShape & StateRow => one.kept !== undefined)
  if (kept.length > 0) writeStates(kept, write)
  const gone = moved.flatMap(({ id, kept }) => (kept ? [] : [id]))
  if (gone.length > 0) deleteStates(gone, write)
}

type ChangedTrace = readonly [id: string, changed: ChangedMessages]

/** The builder of a new shape, and what is known of the trace before the batch. */
type Built = Pick<NewShape, 'id' | 'before' | 'reconsidered'> & { readonly builder: ShapeBuilder }

/** Whether new messages come after all others in the list. */
const comeLast = (added: readonly ListedMessage[], rows: readonly ListedRow[]): boolean => {
  const [first] = added.toSorted(bySortKeys)
  return first === undefined || rows.every((row) => bySortKeys(row, first) < 0)
}

/** All calls behind what is kept, and those without a result there. */
const behind = (kept: KeptShape | undefined): Reconsidered => ({
  from: kept?.upTo ?? 0,
  earlier: new ShapeBuilder(kept).openPlaces(),
})

/** Makes the shapes of traces from rows, as few as possible. */
const fromRows = async (wanted: readonly ChangedTrace[], read: ReadRows) => {
  const ids = uuids(wanted.map(([id]) => id))
  const lowest = int4s(wanted.map(([, one]) => one.lowest))
  const before = int4s(wanted.map(([, { added }]) => added?.[0]?.ordinal ?? NO_ORDINAL))
  const [keptRows, rows] = await Promise.all([
    read<KeptRow>('shapes-kept', keptStatement, [ids]),
    read<ListedRow>('shapes-after-kept', afterKeptStatement, [ids, lowest, before]),
  ])
  const kept = new Map(keptRows.map(({ trace_id, up_to, state }) => [trace_id, { upTo: up_to, state }]))
  const afterKept = Map.groupBy(rows, ({ trace_id }) => trace_id)
  const builders: Built[] = []
  for (const [id, { lowest, added = [] }] of wanted) {
    const before = kept.get(id)
    const usable = before && before.upTo <= lowest ? before : undefined
    const others = afterKept.get(id) ?? []
    const after = fromKept(usable, others, added)
    const builder = after ?? (await fromAll(id, read))
    if (builder.count === 0) continue
    const onlyContinues = after !== undefined && lowest === NO_ORDINAL && comeLast(added, others)
    builders.push({ id, builder, before, reconsidered: onlyContinues ? undefined : behind(after && usable) })
  }
  return builders
}

const derive = (changes: Changes, { read, write, session }: Sender): Promise<void> | undefined => {
  const { changed, deleted } = changes
  const memory = memoryOf(session)
  const made: NewShape[] = []
  /** Notes the shape of a trace, and remembers it as the newest one. */
  const note = ({ id, builder, before, reconsidered }: Built) => {
    const { shape, kept } = builder.end()
    made.push({ id, shape, before, kept, failed: builder.takeFailed(), reconsidered })
    if (builder.isSmall) memory.set(id, { builder, kept })
  }
  for (const id of deleted) memory.delete(id)
  const wanted: ChangedTrace[] = []
  for (const [id, one] of changed) {
    const remembered = memory.get(id)
    memory.delete(id) // the builder changes now: after an error it would be wrong
    const builder = remembered && fromMemory(remembered, one)
    if (builder) note({ id, builder, before: remembered.kept, reconsidered: undefined })
    else wanted.push([id, one])
  }
  if (wanted.length === 0) return void writeAll(changes, made, write)
  return fromRows(wanted, read).then((builders) => {
    for (const built of builders) note(built)
    writeAll(changes, made, write)
  })
}

const changedIn = ({ changed }: Changes, id: string): ChangedMessages => {
  let one = changed.get(id)
  if (!one) changed.set(id, (one = { lowest: NO_ORDINAL, added: [] }))
  return one
}

const addedMessage = ({ data, at }: DecodedEvent<Added>): ListedMessage => ({
  sequence: data.order ?? Infinity,
  timestamp: data.timestamp ?? Infinity,
  ordinal: data.ordinal,
  tools: data.tools,
  slot: quarterOf(data.timestamp ?? Infinity, at),
  ...factsOfMessage(data),
})

/** Fields of a message that say nothing of the shape. */
const OF_NO_SHAPE: ReadonlySet<string> = new Set(['/model', '/usage'])

/**
 * The counts and the shape of each trace, in one row, and its calls that have failed. The counts are the totals of its last `MessagesCounted`, or of its restated present;
 * the rest is made from the facts of its messages in list order. New messages at the end of a trace that is remembered need no read. Otherwise a batch reads what is kept of the first messages and the facts of the few after them, and the
 * facts of all messages if a new or changed one is among the kept ones.
 */
export const shapes = projectionOf<TraceEvent>()<Changes>({
  name: 'shapes',
  tables: `${countsTable.create} ${shapeStatesTable.create}
    alter table shape_states alter state set storage external;
    alter table shape_states alter state set statistics 0;
    ${failedCallsTable.create}
    alter table failed_calls alter tool set statistics 0;`,
  rows: { counts: { trace: 'trace_id' }, shape_states: { trace: 'trace_id' }, failed_calls: { trace: 'trace_id' } },
  indexes: 'create index failed_calls_listed on failed_calls (namespace_id, slot);',
  start: () => ({ changed: new Map(), counted: new Map(), deleted: new Set() }),
  on: {
    MessageAdded: (changes, event) => void changedIn(changes, event.streamId).added?.push(addedMessage(event)),
    MessageUpdated: (changes, { streamId: id, data: { ordinal, patch } }) => {
      if (patch.every(({ path }) => OF_NO_SHAPE.has(path))) return
      const one = changedIn(changes, id)
      if (ordinal >= (one.added?.[0]?.ordinal ?? NO_ORDINAL)) one.added = undefined
      one.lowest = Math.min(one.lowest, ordinal)
    },
    MessagesCounted: (changes, { streamId: id, data }) => {
      changes.counted.set(id, data)
      changedIn(changes, id) // the messages of its append may be in an earlier piece, which found no row
    },
    // All messages are in another incarnation now.
    HistoryErased: ({ changed, counted, deleted }, { streamId: id, data }) => {
      deleted.add(id)
      changed.set(id, { lowest: NO_ORDINAL, added: undefined })
      if (data.messageCount === 0) counted.delete(id)
      else counted.set(id, data)
    },
    TraceDeleted: ({ changed, counted, deleted }, { streamId: id }) => {
      deleted.add(id)
      changed.delete(id)
      counted.delete(id)
    },
    MessageRestated: 'ignored',
    TraceArriving: 'ignored',
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ deleted }, write) => {
    if (deleted.size === 0) return
    deleteCounts([...deleted], write)
    deleteStates([...deleted], write)
    deleteFailures([...deleted], write)
  },
  derive,
})
