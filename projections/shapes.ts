import { type DecodedEvent, type ReadRows, type WriteStatement, projectionOf } from '../src/engine/projection.ts'
import { int4s, jsons, uuids } from '../src/postgres/arrays.ts'
import type { SessionShape } from '../src/contract/trace.ts'
import type { TraceEvent } from '../src/trace/events.ts'
import { type KeptShape, type ListedMessage, ShapeWalk, byPlace } from '../src/trace/kept-shape.ts'
import { MOST_FACTS, factsIn, factsOf } from '../src/trace/messages/facts.ts'
import { isBlank } from '../src/trace/messages/part.ts'
import { byKey } from './support/sql.ts'
import { listOrder, shapeStatesTable } from './tables.ts'

type Added = Extract<TraceEvent, { type: 'MessageAdded' }>

/** What a batch changes in the messages of a trace. */
type Changed = {
  /** The lowest ordinal of a message that was there before. */
  lowest: number
  /** The new messages, if none of them was changed since: they need not be read. */
  added: ListedMessage[] | undefined
}

type Changes = { readonly changed: Map<string, Changed>; readonly deleted: Set<string> }

type KeptRow = { trace_id: string; up_to: number; state: string }

type FactsRow = {
  trace_id: string
  ordinal: number
  sequence: number
  timestamp: number
  is_of_user: boolean
  has_text: boolean
  facts: string | null
  changed: string | null
  part_count: number
}

/** A trace with more messages behind what is kept is read from its beginning with a cursor, so many at a time. */
const MOST_BEHIND = 2_000
const CHUNK = 500

// Parts beyond `part_count` were removed.
const columns = `
  m.trace_id, m.ordinal, coalesce(m.sequence, 'infinity') as sequence, coalesce(m.timestamp, 'infinity') as timestamp,
  m.role = 'user' as is_of_user, coalesce(split_part(m.text_head, ' ', 2) = 'text', false) as has_text, m.facts, m.part_count,
  case when m.revision <> m.added then (
    select left(string_agg(c.position || coalesce(c.fact, ''), ' ' order by c.position), ${MOST_FACTS}) from message_parts c
    where c.trace_id = m.trace_id and c.incarnation = m.incarnation and c.ordinal = m.ordinal and c.position < m.part_count
  ) end as changed`

const keptStatement = `
  select s.trace_id, s.up_to, s.state from unnest($1::uuid[]) u (id)
  cross join lateral (select * from shape_states r where r.trace_id = u.id limit 1) s`

// In the order of the primary key: the index in the order of the list would be read from its beginning.
const behindStatement = `
  select f.* from unnest($1::uuid[], $2::int4[], $3::int4[]) u (id, lowest, before)
  cross join lateral (select r.id, r.incarnation from traces r where r.id = u.id limit 1) t
  left join lateral (select r.up_to from shape_states r where r.trace_id = u.id and r.up_to <= u.lowest limit 1) s on true
  cross join lateral (
    select ${columns} from messages m
    where m.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal >= coalesce(s.up_to, 0)
      and m.ordinal < u.before
    order by m.ordinal limit ${MOST_BEHIND + 1}
  ) f`

const lastStatement = `
  select m.ordinal from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
  where t.id = $1 order by m.ordinal desc limit 1`

const allStatement = `
  declare facts no scroll cursor for
  select ${columns} from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
  where t.id = $1 order by ${listOrder('m.sequence', 'm.timestamp')}, m.ordinal`

const toListed = (row: FactsRow): ListedMessage => ({
  sequence: row.sequence,
  timestamp: row.timestamp,
  ordinal: row.ordinal,
  isOfUser: row.is_of_user,
  hasText: row.has_text,
  facts: factsOf(row.facts, row.changed, row.part_count),
})

type Made = { readonly id: string; readonly shape: SessionShape; readonly kept: KeptShape | undefined }

/** The shape from what is kept and the messages behind that. Undefined if it needs all messages. */
const fromKept = (
  id: string,
  kept: KeptShape | undefined,
  rows: readonly FactsRow[],
  added: readonly ListedMessage[],
): Made | undefined => {
  const messages = [...rows.map(toListed), ...added]
  if (messages.length === 0 || rows.length > MOST_BEHIND) return undefined
  const last = messages.reduce((most, { ordinal }) => Math.max(most, ordinal), 0)
  const walk = new ShapeWalk(kept, last + 1)
  messages.sort(byPlace)
  if (!walk.isBehind(messages[0]!)) return undefined
  walk.add(messages)
  return { id, ...walk.end() }
}

/** The shape from all messages; undefined if there are none. */
const fromAll = async (id: string, read: ReadRows): Promise<Made | undefined> => {
  const [last] = await read<Pick<FactsRow, 'ordinal'>>('shapes-last', lastStatement, [id])
  if (!last) return undefined
  const walk = new ShapeWalk(undefined, last.ordinal + 1)
  await read('', allStatement, [id])
  for (;;) {
    const rows = await read<FactsRow>('', `fetch ${CHUNK} from facts`, [])
    if (rows.length === 0) break
    walk.add(rows.map(toListed))
  }
  await read('', 'close facts', [])
  return { id, ...walk.end() }
}

const writeShapes = (made: readonly Made[], write: WriteStatement) =>
  write(
    'shapes-counts',
    `update counts c set shape = u.shape from unnest($1::uuid[], $2::json[]) u (id, shape)
     ${byKey('counts', 'r.trace_id = u.id')} where c.ctid = found.ctid`,
    [uuids(made.map(({ id }) => id)), jsons(made.map(({ shape }) => JSON.stringify(shape)))],
  )

type Kept = { readonly id: string; readonly kept: KeptShape }

const states = shapeStatesTable.unnest<Kept>({
  trace_id: ({ id }) => id,
  up_to: ({ kept }) => kept.upTo,
  state: ({ kept }) => kept.state,
})

const writeStates = (kept: readonly Kept[], write: WriteStatement) =>
  write(
    'shapes-states',
    `${states.insert} on conflict (trace_id) do update set up_to = excluded.up_to, state = excluded.state`,
    states.values(kept),
  )

const deleteStates = (ids: readonly string[], write: WriteStatement) =>
  write('shapes-delete', 'delete from shape_states where trace_id = any($1::uuid[])', [uuids(ids)])

const derive = async (changed: ReadonlyMap<string, Changed>, read: ReadRows, write: WriteStatement): Promise<void> => {
  const ids = uuids([...changed.keys()])
  const all = [...changed.values()]
  const lowest = int4s(all.map((one) => one.lowest))
  const before = int4s(all.map(({ added }) => added?.[0]?.ordinal ?? NONE))
  const [keptRows, rows] = await Promise.all([
    read<KeptRow>('shapes-kept', keptStatement, [ids]),
    read<FactsRow>('shapes-behind', behindStatement, [ids, lowest, before]),
  ])
  const keptBefore = new Map(keptRows.map(({ trace_id, up_to, state }) => [trace_id, { upTo: up_to, state }]))
  const behind = Map.groupBy(rows, ({ trace_id }) => trace_id)
  const made: Made[] = []
  for (const [id, { lowest, added = [] }] of changed) {
    const kept = keptBefore.get(id)
    const usable = kept && kept.upTo <= lowest ? kept : undefined
    const one = fromKept(id, usable, behind.get(id) ?? [], added) ?? (await fromAll(id, read))
    if (one) made.push(one)
  }
  if (made.length > 0) writeShapes(made, write)
  const moved = made.filter(({ id, kept }) => kept !== keptBefore.get(id))
  const kept = moved.filter((one): one is Made & Kept => one.kept !== undefined)
  if (kept.length > 0) writeStates(kept, write)
  const gone = moved.filter((one) => one.kept === undefined)
  if (gone.length > 0)
    deleteStates(
      gone.map(({ id }) => id),
      write,
    )
}

/** The highest ordinal that a column can have. */
const NONE = 2 ** 31 - 1

const changedIn = ({ changed }: Changes, id: string): Changed => {
  let one = changed.get(id)
  if (!one) changed.set(id, (one = { lowest: NONE, added: [] }))
  return one
}

const addedMessage = ({ data }: DecodedEvent<Added>): ListedMessage => ({
  sequence: data.order ?? Infinity,
  timestamp: data.timestamp ?? Infinity,
  ordinal: data.ordinal,
  isOfUser: data.role === 'user',
  hasText: !isBlank(data.textContent),
  facts: factsIn(data.parts.map(({ fact }) => fact)),
})

/**
 * The shape of each trace, a column of `counts`, from the facts of its messages in list order. A batch reads what is kept of the first
 * messages and the facts of the few behind them. When messages come before these in the list, or are changed among them, it reads the
 * facts of all.
 */
export const shapes = projectionOf<TraceEvent>()<Changes>({
  name: 'shapes',
  tables: `${shapeStatesTable.create}
    alter table shape_states alter state set storage external;
    alter table shape_states alter state set statistics 0;`,
  rows: { shape_states: { trace: 'trace_id' } },
  indexes: '',
  start: () => ({ changed: new Map(), deleted: new Set() }),
  on: {
    MessageAdded: (changes, event) => void changedIn(changes, event.streamId).added?.push(addedMessage(event)),
    MessageUpdated: (changes, { streamId: id, data: { ordinal, patch } }) => {
      if (patch.every(({ path }) => path === '/model')) return
      const one = changedIn(changes, id)
      if (ordinal >= (one.added?.[0]?.ordinal ?? NONE)) one.added = undefined
      one.lowest = Math.min(one.lowest, ordinal)
    },
    // All messages are in another incarnation now.
    HistoryErased: ({ changed, deleted }, { streamId: id }) => {
      deleted.add(id)
      changed.set(id, { lowest: NONE, added: undefined })
    },
    TraceDeleted: ({ changed, deleted }, { streamId: id }) => {
      deleted.add(id)
      changed.delete(id)
    },
    MessageRestated: 'ignored',
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ deleted }, write) => {
    if (deleted.size > 0) deleteStates([...deleted], write)
  },
  derive: ({ changed }, read, write) => (changed.size === 0 ? undefined : derive(changed, read, write)),
})
