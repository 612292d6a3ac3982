import {
  type DecodedEvent,
  type ReadRows,
  type Sender,
  type WriteStatement,
  projectionOf,
} from '../src/eventstore/engine/projection.ts'
import { int4s, int8s, uuids } from '../src/eventstore/postgres/arrays.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import {
  USAGE_KEY,
  USAGE_TOOLS_KEY,
  answerOf,
  copiedAnswersTable,
  counts,
  eachSum,
  slotOf,
  usageIn,
  usageTable,
  usageToolsTable,
} from '../src/tables/usage.ts'

/** A message of a trace that is present. */
type Key = { readonly traceId: string; readonly ordinal: number }

type Changes = {
  readonly added: Map<string, Key>
  readonly updated: Map<string, Key>
  /** Those updated messages whose usage has changed. */
  readonly reused: Map<string, Key>
  readonly deleted: Set<string>
  /** Traces that were restated: all their messages are in another incarnation now. */
  readonly restated: Set<string>
}

const keyOf = ({ traceId, ordinal }: Key) => `${traceId}/${ordinal}`
const set = (keys: Map<string, Key>, key: Key) => void keys.set(keyOf(key), key)

const forget = (changes: Changes, id: string) => {
  for (const keys of [changes.added, changes.updated, changes.reused])
    for (const [name, { traceId }] of keys) if (traceId === id) keys.delete(name)
}

const arraysOf = (keys: readonly Key[]) => [
  uuids(keys.map(({ traceId }) => traceId)),
  int4s(keys.map(({ ordinal }) => ordinal)),
]

/** SQL for the messages `m` with these keys, as they are in the table, and their traces `t`. */
const messagesWithKeys = `
  unnest($1::uuid[], $2::int4[]) u (trace_id, ordinal)
  cross join lateral (select * from traces r where r.id = u.trace_id limit 1) t
  cross join lateral (
    select * from messages r where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal = u.ordinal limit 1
  ) m`

/** Adds what messages have used to the sums, or subtracts it. */
const addUsage = (sign: '' | '-') => `
  insert into usage (trace_id, namespace_id, slot, model, prices, kinds, messages, ${eachSum((name) => name)})
  select m.trace_id, t.namespace_id, used.slot, used.model, used.prices, used.kinds, ${sign}count(*)::int4,
    ${eachSum((name) => `${sign}sum(used.${name})`)}
  from ${messagesWithKeys} ${usageIn('m')} where ${counts('m')} group by 1, 2, 3, 4, 5, 6
  on conflict (${USAGE_KEY}) do update set messages = usage.messages + excluded.messages,
    ${eachSum((name) => `${name} = usage.${name} + excluded.${name}`)}`

const addTools = (sign: '' | '-') => `
  insert into usage_tools (trace_id, namespace_id, slot, tool, messages)
  select m.trace_id, t.namespace_id, ${slotOf('m')}, called.tool, ${sign}count(distinct m.ordinal)::int4
  from ${messagesWithKeys} cross join lateral (select e::text as tool from json_array_elements(m.tools) e) called
  where ${counts('m')} group by 1, 2, 3, 4
  on conflict (${USAGE_TOOLS_KEY}) do update set messages = usage_tools.messages + excluded.messages`

const count = (sign: '' | '-', keys: readonly Key[], write: WriteStatement) => {
  const name = sign === '' ? 'add' : 'subtract'
  write(`usage-${name}`, addUsage(sign), arraysOf(keys))
  write(`usage-tools-${name}`, addTools(sign), arraysOf(keys))
}

const tables = ['usage', 'usage_tools'] as const

const removeSums = (ids: readonly string[], write: WriteStatement) => {
  for (const table of tables)
    write(`${table}-clear`, `delete from ${table} where trace_id = any($1::uuid[])`, [uuids(ids)])
}

/** Removes the sums of which nothing is left: there are none for them in a read model that is built anew. */
const removeEmpty = (ids: readonly string[], write: WriteStatement) => {
  for (const table of tables)
    write(`${table}-remove`, `delete from ${table} where trace_id = any($1::uuid[]) and messages = 0`, [uuids(ids)])
}

const copied = ['slot', 'ordinal', 'tools', 'model', 'prices', 'kinds', ...eachSum((name) => name).split(', ')]
const copyColumns = ['namespace_id', 'answer', 'trace_id', 'created_at', ...copied].join(', ')

/** SQL for a message as a row of `copied_answers`, with `usageIn`. */
const copyOf = (m: string) =>
  ['t.namespace_id', ...['answer', 'trace_id', 'created_at'].map((name) => `${m}.${name}`)]
    .concat(copied.map((name) => (name === 'ordinal' || name === 'tools' ? `${m}.${name}` : `used.${name}`)))
    .join(', ')

/**
 * Lists the answers of messages that another trace of their namespace has as well. An answer that is not listed may have several new ones, so
 * all its other messages are; of one that is listed, they are there already. Each answer is looked up: a join might read the whole list.
 */
const noteCopies = (keys: readonly Key[], write: WriteStatement) => {
  const values = arraysOf(keys)
  write(
    'usage-copies',
    `insert into copied_answers (${copyColumns})
     select ${copyOf('other')} from (
       select distinct on (m.answer) m.answer, m.trace_id, t.namespace_id from ${messagesWithKeys}
       where m.answer is not null and (
         select true from copied_answers c where c.namespace_id = t.namespace_id and c.answer = m.answer limit 1
       ) is null
       order by m.answer, m.trace_id
     ) t
     cross join lateral (
       select r.* from messages r where r.answer = t.answer and r.trace_id <> t.trace_id
         and (select o.incarnation from traces o where o.id = r.trace_id limit 1) = r.incarnation offset 0
     ) other
     ${usageIn('other')}
     order by 1, 2, 3 on conflict do nothing`,
    values,
  )
  write(
    'usage-copies-own',
    `insert into copied_answers (${copyColumns})
     select ${copyOf('m')} from ${messagesWithKeys} ${usageIn('m')}
     where m.answer is not null and (
       select true from copied_answers o
       where o.namespace_id = t.namespace_id and o.answer = m.answer and o.trace_id <> m.trace_id limit 1
     )
     order by 1, 2, 3
     on conflict (namespace_id, answer, trace_id) do update set
       ${copied.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values,
  )
}

/** SQL that removes the answers that were `gone` from the list for other traces, too, where only one of these is left to have them. */
const removeSingles = (isLeft: string) => `
  delete from copied_answers c using (
    select g.namespace_id, g.answer, min(left_over.trace_id::text)::uuid as trace_id
    from (select distinct namespace_id, answer from gone) g cross join lateral (
      select o.trace_id from copied_answers o
      where o.namespace_id = g.namespace_id and o.answer = g.answer and ${isLeft} limit 2
    ) left_over
    group by 1, 2 having count(*) = 1
  ) single
  where c.namespace_id = single.namespace_id and c.answer = single.answer and c.trace_id = single.trace_id`

/** Removes all answers of traces from the list. */
const removeCopies = (ids: readonly string[], write: WriteStatement) =>
  write(
    'usage-copies-remove',
    `with gone as (delete from copied_answers where trace_id = any($1::uuid[]) returning namespace_id, answer)
     ${removeSingles('o.trace_id <> all($1::uuid[])')}`,
    [uuids(ids)],
  )

/** An answer that a trace does not have any more. */
type Lost = { readonly traceId: string; readonly answer: bigint }

/** Removes some answers of traces from the list. */
const removeLost = (lost: readonly Lost[], write: WriteStatement) =>
  write(
    'usage-copies-lost',
    `with found as materialized (
       select f.ctid, f.namespace_id, f.answer, f.trace_id from unnest($1::uuid[], $2::int8[]) u (trace_id, answer)
       cross join lateral (select * from traces r where r.id = u.trace_id limit 1) t
       cross join lateral (
         select r.ctid, r.* from copied_answers r
         where r.namespace_id = t.namespace_id and r.answer = u.answer and r.trace_id = u.trace_id limit 1
       ) f
     ), gone as (
       delete from copied_answers c using found where c.ctid = found.ctid returning c.namespace_id, c.answer
     )
     ${removeSingles('not exists (select from found f where f.answer = o.answer and f.trace_id = o.trace_id)')}`,
    [uuids(lost.map(({ traceId }) => traceId)), int8s(lost.map(({ answer }) => answer))],
  )

type Settled = {
  /** Traces in which other messages may have to get or lose their answers: they are to be counted anew. */
  readonly unsettled: readonly string[]
  readonly lost: readonly Lost[]
}

/** Sets the answers of messages whose usage has changed, unless other messages of the trace have or wait for one of the same. */
const settleAnswers = async (keys: readonly Key[], read: ReadRows): Promise<Settled> => {
  const rows = await read<{ trace_id: string; lost: bigint | string | null }>(
    'usage-settle',
    `with changed as materialized (
       select m.trace_id, m.incarnation, m.ordinal, m.answer as old, a.answer as new
       from ${messagesWithKeys} cross join lateral (select ${answerOf('t.namespace_id', 'm.usage')} as answer offset 0) a
       where m.answer is distinct from a.answer
     ), judged as materialized (
       select c.*, (
         select min(r.ordinal) from messages r
         where r.answer = c.new and r.trace_id = c.trace_id and r.incarnation = c.incarnation
       ) as holder
       from changed c
     ), unsettled as materialized (
       select distinct j.trace_id from judged j
       where j.holder > j.ordinal
         or exists (
           select from changed o where o.trace_id = j.trace_id and o.ordinal <> j.ordinal and (o.old = j.new or o.new = j.new)
         )
         or j.old is not null and exists (
           select from messages r where r.trace_id = j.trace_id and r.incarnation = j.incarnation
             and r.answer is null and r.usage ->> 'responseId' is not null
             and not exists (select from changed o where o.trace_id = r.trace_id and o.ordinal = r.ordinal)
         )
     ), settled as (
       update messages m set answer = case when j.holder is null then j.new end from judged j
       where m.trace_id = j.trace_id and m.incarnation = j.incarnation and m.ordinal = j.ordinal
         and j.trace_id not in (select trace_id from unsettled)
     )
     select trace_id, null::int8 as lost from unsettled
     union all
     select trace_id, old from judged where old is not null and trace_id not in (select trace_id from unsettled)`,
    arraysOf(keys),
  )
  return {
    unsettled: rows.flatMap(({ trace_id, lost }) => (lost === null ? [trace_id] : [])),
    lost: rows.flatMap(({ trace_id, lost }) => (lost === null ? [] : [{ traceId: trace_id, answer: BigInt(lost) }])),
  }
}

/** Sets the answers of all messages of traces, and removes the sums of these. Returns the messages, to be counted again. */
const beginAnew = async (ids: readonly string[], { read, write }: Sender): Promise<Key[]> => {
  removeSums(ids, write)
  removeCopies(ids, write)
  write(
    'usage-answers',
    `update messages m set answer = a.answer
     from (
       select r.trace_id, r.incarnation, r.ordinal, case when row_number() over (
         partition by r.trace_id, r.usage ->> 'responseId' order by r.ordinal
       ) = 1 then ${answerOf('t.namespace_id', 'r.usage')} end as answer
       from traces t join messages r on r.trace_id = t.id and r.incarnation = t.incarnation
       where t.id = any($1::uuid[]) and r.usage is not null
     ) a
     where m.trace_id = a.trace_id and m.incarnation = a.incarnation and m.ordinal = a.ordinal
       and m.answer is distinct from a.answer`,
    [uuids(ids)],
  )
  const rows = await read<{ trace_id: string; ordinal: number }>(
    'usage-ordinals',
    `select m.trace_id, m.ordinal from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
     where t.id = any($1::uuid[])`,
    [uuids(ids)],
  )
  return rows.map(({ trace_id, ordinal }) => ({ traceId: trace_id, ordinal }))
}

/** Adds what the messages of the batch have used, as they are now in the table. */
const addChanged = ({ added, updated }: Changes, anew: readonly Key[], write: WriteStatement) => {
  const keys = new Map([...added, ...updated])
  for (const key of anew) set(keys, key)
  if (keys.size === 0) return
  count('', [...keys.values()], write)
  noteCopies([...keys.values()], write)
  if (updated.size > 0) removeEmpty([...new Set([...updated.values()].map(({ traceId }) => traceId))], write)
}

const deriveAnew = async (changes: Changes, sender: Sender): Promise<void> => {
  const { reused, restated } = changes
  const { unsettled, lost } =
    reused.size === 0 ? { unsettled: [], lost: [] } : await settleAnswers([...reused.values()], sender.read)
  if (lost.length > 0) removeLost(lost, sender.write)
  const ids = [...new Set([...unsettled, ...restated])]
  addChanged(changes, ids.length === 0 ? [] : await beginAnew(ids, sender), sender.write)
}

const derive = (changes: Changes, sender: Sender): Promise<void> | undefined => {
  if (changes.reused.size > 0 || changes.restated.size > 0) return deriveAnew(changes, sender)
  return void addChanged(changes, [], sender.write)
}

const keyIn = ({
  streamId: traceId,
  data: { ordinal },
}: DecodedEvent<Extract<TraceEvent, { data: { ordinal: number } }>>): Key => ({ traceId, ordinal })

/**
 * What the messages of a trace have used, by quarters of an hour, and which answers of a provider several traces of a namespace have. Must
 * come before `messages` in the list: what updated messages had used is subtracted as they were before the batch.
 */
export const usage = projectionOf<TraceEvent>()<Changes>({
  name: 'usage',
  tables: `${usageTable.create}
    alter table usage alter model set statistics 0;
    ${usageToolsTable.create}
    alter table usage_tools alter tool set statistics 0;
    ${copiedAnswersTable.create}
    alter table copied_answers alter model set statistics 0;
    alter table copied_answers alter tools set statistics 0;
    create index copied_answers_of_trace on copied_answers (trace_id, ordinal);`,
  rows: { usage: { trace: 'trace_id' }, usage_tools: { trace: 'trace_id' }, copied_answers: { trace: 'trace_id' } },
  beforeRemoval: { trace: (id, write) => removeCopies([id], write) },
  indexes: `
    create index usage_listed on usage (namespace_id, slot);
    create index usage_tools_listed on usage_tools (namespace_id, slot);
    create index copied_answers_listed on copied_answers (namespace_id, slot);`,
  start: () => ({
    added: new Map(),
    updated: new Map(),
    reused: new Map(),
    deleted: new Set(),
    restated: new Set(),
  }),
  on: {
    MessageAdded: ({ added }, event) => set(added, keyIn(event)),
    MessageUpdated: ({ updated, reused }, event) => {
      set(updated, keyIn(event))
      if (event.data.patch.some(({ path }) => path === '/usage')) set(reused, keyIn(event))
    },
    HistoryErased: (changes, { streamId: id }) => {
      forget(changes, id)
      changes.restated.add(id)
    },
    TraceDeleted: (changes, { streamId: id }) => {
      forget(changes, id)
      changes.restated.delete(id)
      changes.deleted.add(id)
    },
    MessageRestated: 'ignored',
    TraceArriving: 'ignored',
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ updated, deleted }, write) => {
    if (deleted.size > 0) {
      removeSums([...deleted], write)
      removeCopies([...deleted], write)
    }
    if (updated.size > 0) count('-', [...updated.values()], write)
  },
  derive,
})
