import {
  type DecodedEvent,
  type ReadRows,
  type Sender,
  type WriteStatement,
  projectionOf,
} from '../src/eventstore/engine/projection.ts'
import { int4s, int8s, texts, uuids } from '../src/eventstore/postgres/arrays.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import {
  USAGE_KEY,
  USAGE_TOOLS_KEY,
  answerOf,
  copiedAnswersTable,
  counts,
  eachSum,
  quarterOf,
  usageIn,
  usageTable,
  usageToolsTable,
} from '../src/tables/usage.ts'
import { usageDaysTable } from '../src/tables/usage-days.ts'
import { type Lost, judgeAgain, listCopies, removeCopies, removeLost } from './copied-answers.ts'
import { literal } from './support/changed-rows.ts'
import { describeDays, makeDays, removeEmptyDays } from './usage-days.ts'

/** A message of a trace that is present. */
type Key = { readonly traceId: string; readonly ordinal: number }

/** The quarter of an hour of a message of a trace. */
type Slot = { readonly traceId: string; readonly slot: number }
/** A new message without usage. What it adds to the sums need not be looked up; `model` is a JSON literal, or empty. */
type Unused = Key & Slot & { readonly model: string; readonly tools: readonly string[] }

type Changes = {
  /** The new messages with usage. */
  readonly added: Map<string, Key & Slot>
  readonly unused: Map<string, Unused>
  readonly updated: Map<string, Key>
  /** Those updated messages whose usage has changed. */
  readonly reused: Map<string, Key>
  readonly deleted: Set<string>
  /** Traces that were restated: all their messages are in another incarnation now. */
  readonly restated: Set<string>
  /** Traces that are of another agent now. */
  readonly ofOther: Set<string>
  /** Traces that have another agent, project or model now. */
  readonly described: Set<string>
}

const keyOf = ({ traceId, ordinal }: Key) => `${traceId}/${ordinal}`
const set = <One extends Key>(keys: Map<string, One>, key: One) => void keys.set(keyOf(key), key)

const forget = (changes: Changes, id: string) => {
  for (const keys of [changes.added, changes.unused, changes.updated, changes.reused])
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

const sums = eachSum((name) => name)

/** SQL that adds the rows of `select` to those of a table with the same key; `also` sets other columns. */
const addTo = (table: string, key: string, columns: string, select: string, also = '') => `
  insert into ${table} (${columns}) ${select}
  on conflict (${key}) do update set messages = ${table}.messages + excluded.messages ${also}`

/** SQL for the messages with keys, once for all tables: to look a message up takes as long as to add it up. */
const foundMessages = `
  m as materialized (
    select m.trace_id, t.namespace_id, m.answer, m.tools, used.*
    from ${messagesWithKeys} ${usageIn('m')} where ${counts('m')}
  )`

const NAMESPACE = 'cross join lateral (select r.namespace_id from traces r where r.id = u.trace_id limit 1) t'

/** SQL for messages that are known without looking them up (`Unused`), in parameters from $3 on; and for the tools that they call. */
const unused = `
  union all
  select u.trace_id, t.namespace_id, u.slot, u.model, 0, 0, u.messages, ${eachSum(() => '0')}
  from unnest($3::uuid[], $4::int8[], $5::text[], $6::int4[]) u (trace_id, slot, model, messages) ${NAMESPACE}`
const unusedTools = `
  union all
  select u.trace_id, t.namespace_id, u.slot, u.tool, u.messages
  from unnest($7::uuid[], $8::int8[], $9::text[], $10::int4[]) u (trace_id, slot, tool, messages) ${NAMESPACE}`

/** SQL that adds `m` and others to the sums, or subtracts them. */
const addAll = (sign: '' | '-', others: { readonly messages: string; readonly tools: string }) => `
  usage_added as (
    ${addTo(
      'usage',
      USAGE_KEY,
      `trace_id, namespace_id, slot, model, prices, kinds, messages, ${sums}`,
      `select trace_id, namespace_id, slot, model, prices, kinds, ${sign}sum(messages)::int4,
         ${eachSum((name) => `${sign}sum(${name})`)}
       from (
         select trace_id, namespace_id, slot, model, prices, kinds, 1 as messages, ${sums} from m
         ${others.messages}
       ) c group by 1, 2, 3, 4, 5, 6`,
      `, ${eachSum((name) => `${name} = usage.${name} + excluded.${name}`)}`,
    )}
  )
  ${addTo(
    'usage_tools',
    USAGE_TOOLS_KEY,
    'trace_id, namespace_id, slot, tool, messages',
    `select trace_id, namespace_id, slot, tool, ${sign}sum(messages)::int4 from (
       select m.trace_id, m.namespace_id, m.slot, called.tool, 1 as messages
       from m cross join lateral (select distinct e::text as tool from json_array_elements(m.tools) e) called
       ${others.tools}
     ) c group by 1, 2, 3, 4`,
  )}`

const addStatement = `with ${foundMessages}, ${listCopies}, ${addAll('', { messages: unused, tools: unusedTools })}`
const subtractStatement = `with ${foundMessages}, ${addAll('-', { messages: '', tools: '' })}`

/** How many times each of the rows occurs, by what is told apart. */
const counted = <Row extends Slot & { readonly text: string }>(rows: readonly Row[]) => {
  const found = new Map<string, { readonly row: Row; messages: number }>()
  for (const row of rows) {
    const name = `${row.traceId} ${row.slot} ${row.text}`
    const one = found.get(name)
    if (one) one.messages += 1
    else found.set(name, { row, messages: 1 })
  }
  const all = [...found.values()]
  return [
    uuids(all.map(({ row }) => row.traceId)),
    int8s(all.map(({ row }) => row.slot)),
    texts(all.map(({ row }) => row.text)),
    int4s(all.map(({ messages }) => messages)),
  ]
}

const add = (keys: readonly Key[], unused: readonly Unused[], write: WriteStatement) =>
  write('usage-add', addStatement, [
    ...arraysOf(keys),
    ...counted(unused.map(({ traceId, slot, model }) => ({ traceId, slot, text: model }))),
    ...counted(
      unused.flatMap(({ traceId, slot, tools }) =>
        [...new Set(tools)].map((tool) => ({ traceId, slot, text: JSON.stringify(tool) })),
      ),
    ),
  ])

const tables = ['usage', 'usage_tools', 'usage_days'] as const

const removeSums = (ids: readonly string[], write: WriteStatement) => {
  for (const table of tables)
    write(`${table}-clear`, `delete from ${table} where trace_id = any($1::uuid[])`, [uuids(ids)])
}

/** Removes the sums of which nothing is left: there are none for them in a read model that is built anew. */
const removeEmpty = (ids: readonly string[], write: WriteStatement) => {
  for (const table of ['usage', 'usage_tools'])
    write(`${table}-remove`, `delete from ${table} where trace_id = any($1::uuid[]) and messages = 0`, [uuids(ids)])
  removeEmptyDays(ids, write)
}

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

/** Adds what the messages of the batch have used, as they are now in the table; all those of some traces are counted `anew`. */
const addChanged = (
  { added, unused, updated }: Changes,
  { anew, ids }: { readonly anew: readonly Key[]; readonly ids: ReadonlySet<string> },
  write: WriteStatement,
) => {
  const keys = new Map<string, Key>([...added, ...updated])
  for (const key of anew) set(keys, key)
  const known = [...unused.values()].filter(({ traceId }) => !ids.has(traceId))
  if (keys.size > 0 || known.length > 0) add([...keys.values()], known, write)
  const ofUpdated = new Set([...updated.values()].map(({ traceId }) => traceId))
  if (ofUpdated.size > 0) removeEmpty([...ofUpdated], write)
  return ofUpdated
}

/** What in the rows of days is a field of their trace. */
const DESCRIBING: ReadonlySet<string> = new Set(['/agentId', '/projectName', '/model'])

const addAndDescribe = (
  changes: Changes,
  counted: { readonly anew: readonly Key[]; readonly ids: ReadonlySet<string> },
  write: WriteStatement,
) => {
  const { added, unused, deleted, ofOther, described } = changes
  const ofUpdated = addChanged(changes, counted, write)
  if (described.size > 0) describeDays([...described], write)
  if (ofOther.size > 0) judgeAgain([...ofOther], write)
  const traces = [...ofUpdated.union(counted.ids)]
  if (added.size + unused.size + traces.length + deleted.size + ofOther.size > 0)
    makeDays([...added.values(), ...unused.values()], traces, write)
}

const deriveAnew = async (changes: Changes, sender: Sender): Promise<void> => {
  const { reused, restated } = changes
  const { unsettled, lost } =
    reused.size === 0 ? { unsettled: [], lost: [] } : await settleAnswers([...reused.values()], sender.read)
  if (lost.length > 0) removeLost(lost, sender.write)
  const ids = new Set([...unsettled, ...restated])
  const anew = ids.size === 0 ? [] : await beginAnew([...ids], sender)
  addAndDescribe(changes, { anew, ids }, sender.write)
}

const NONE = { anew: [], ids: new Set<string>() }

const derive = (changes: Changes, sender: Sender): Promise<void> | undefined => {
  if (changes.reused.size > 0 || changes.restated.size > 0) return deriveAnew(changes, sender)
  return void addAndDescribe(changes, NONE, sender.write)
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
    ${usageDaysTable.create}
    ${['agent', 'project', 'trace_model', 'used', 'tools'].map((column) => `alter table usage_days alter ${column} set statistics 0;`).join(' ')}
    create index usage_days_stale on usage_days (trace_id) where stale;
    ${copiedAnswersTable.create}
    alter table copied_answers alter model set statistics 0;
    alter table copied_answers alter tools set statistics 0;
    create index copied_answers_of_trace on copied_answers (trace_id, ordinal);`,
  rows: Object.fromEntries([...tables, 'copied_answers'].map((table) => [table, { trace: 'trace_id' }])),
  beforeRemoval: {
    trace: (id, write) => {
      removeCopies([id], write)
      makeDays([], [], write)
    },
  },
  indexes: `
    create index usage_listed on usage (namespace_id, slot);
    create index usage_days_listed on usage_days (namespace_id, day);
    create index copied_answers_elsewhere on copied_answers (namespace_id, slot) where elsewhere;`,
  start: () => ({
    added: new Map(),
    unused: new Map(),
    updated: new Map(),
    reused: new Map(),
    deleted: new Set(),
    restated: new Set(),
    ofOther: new Set(),
    described: new Set(),
  }),
  on: {
    MessageAdded: ({ added, unused }, event) => {
      const { at, data } = event
      const key = keyIn(event)
      const slot = quarterOf(data.timestamp ?? Infinity, at)
      if (data.usage) set(added, { ...key, slot })
      else set(unused, { ...key, slot, model: literal(data.model) ?? '', tools: data.tools })
    },
    MessageUpdated: ({ unused, updated, reused }, event) => {
      const key = keyIn(event)
      unused.delete(keyOf(key))
      set(updated, key)
      if (event.data.patch.some(({ path }) => path === '/usage')) set(reused, key)
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
    TraceUpdated: ({ ofOther, described }, { streamId: id, data }) => {
      if (data.patch.some(({ path }) => path === '/agentId')) ofOther.add(id)
      if (data.patch.some(({ path }) => DESCRIBING.has(path))) described.add(id)
    },
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ updated, deleted }, write) => {
    if (deleted.size > 0) {
      removeSums([...deleted], write)
      removeCopies([...deleted], write)
    }
    if (updated.size > 0) write('usage-subtract', subtractStatement, arraysOf([...updated.values()]))
  },
  derive,
})
