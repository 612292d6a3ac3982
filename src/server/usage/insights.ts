import type { Cost, UsageSums } from '../../contract/usage.ts'
import type { ReadTables } from '../../tables/main.ts'
import { DOLLAR, eachSum, kindBits, tokenColumns } from '../../tables/usage.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { int4s, int8s } from '../../eventstore/postgres/arrays.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { KnownModels } from '../models/registry.ts'
import { type PriceClass, type Priced, priceClasses, pricedIn, pricesOf } from './price-classes.ts'
import { type Asked, type Authors, copies, failedCalls, inPeriod, modelOf, sumsOfTraces, usageRows } from './queries.ts'
import { type UsageGroup, usageOf } from './sums.ts'
import { type Offset, zoneOffsets } from './zone.ts'

/** How many traces and messages count, and what these have used and cost; both are absent where they are not known. */
export type Sums = {
  readonly traces: number
  readonly messages: number
  readonly usage?: UsageSums
  readonly cost?: Cost
}

/** The same with a key; undefined where there is none. */
export type KeyedSums = Sums & { readonly key: string | undefined }

/** The messages that call a tool, and how many of its calls have failed. */
export type ToolSums = KeyedSums & { readonly failed: number }

/** A trace with what it has cost in a period. */
export type DearTrace = { readonly id: string; readonly cost: Cost }
/** A trace with the number of quarters of an hour in which it has messages. */
export type LongTrace = { readonly id: string; readonly quarters: number }

/** What the messages of a namespace have used and cost in a period, from several sides. */
export type NamespaceInsights = {
  readonly total: Sums
  /** The sums of each day, by its index; a day without messages is absent. */
  readonly days: ReadonlyMap<number, Sums>
  readonly agents: readonly KeyedSums[]
  readonly models: readonly KeyedSums[]
  readonly projects: readonly KeyedSums[]
  /** By the id of the user: those that the reader may tell apart, and all others as one without a key. */
  readonly authors: readonly KeyedSums[]
  readonly tools: readonly ToolSums[]
  /** The messages of each hour of the week, from Monday on. */
  readonly hours: readonly number[]
  readonly dearest: readonly DearTrace[]
  readonly longest: readonly LongTrace[]
}

export const HOURS_OF_WEEK = 168

/** How many traces are shown as the dearest and the longest. */
const MOST_TRACES = 5
/** How many are looked at to find the dearest: SQL knows what they cost but for roundings and unknown prices of a kind of tokens. */
const MOST_DEAR = 4 * MOST_TRACES

const columns = Object.values(tokenColumns)
const FIRST_WEIGHT = 6
const WEIGHTS = columns.map((column, i) => `k.${column} * ($${FIRST_WEIGHT + i}::float8[])[i.at]`)
const [SEES_ALL, USER, MODELS] = [0, 1, 2].map((i) => `$${FIRST_WEIGHT + columns.length + i}`)

const author = `case when ${SEES_ALL}::bool or c.created_by = ${USER}::uuid then c.created_by::text else '' end`

/**
 * SQL for the sums of a period by day, and by agent, project and author together, for each price and model; those of the dearest traces; and
 * numbers of traces. Few agents, projects and authors occur together, so that each of them is added up here, and not once more by PostgreSQL.
 */
const sumsStatement = `
  with of_present as materialized (
    select c.*, ${author} collate "C" as author, ($5::jsonb ->> (c.prices || '/' || ${modelOf}))::int4 as class
    from (${sumsOfTraces(pricesOf)}) c
  ), keyed as materialized (
    select *, (${MODELS}::int4[])[class] as model_index from of_present where class is not null
  ), of_trace as materialized (
    select trace_id, min(agent) as agent, min(project) as project, min(author) as author,
      sum(case when k.kinds & ${kindBits.costUsd} <> 0 then k.cost * 1e6 / ${DOLLAR} else ${WEIGHTS.join(' + ')} end) as weight
    from keyed k
    cross join lateral (select 2 * k.class - 1 + (k.kinds & ${kindBits.isLong}) / ${kindBits.isLong} as at) i
    group by 1 having sum(k.messages) > 0
  ), dearest as (
    select trace_id from of_trace where weight > 0 order by weight desc, trace_id limit ${MOST_DEAR}
  )
  select case grouping(day) when 0 then 'day' else 'field' end as by, day::text as key, agent, project, author, class, kinds,
    null::int8 as traces, sum(messages) as messages, ${eachSum((name) => `sum(${name}) as ${name}`)}
  from keyed group by grouping sets ((day, class, kinds), (agent, project, author, class, kinds)) having sum(messages) > 0
  union all
  select 'trace', k.trace_id::text, null, null, null, k.class, k.kinds, null, sum(k.messages), ${eachSum((name) => `sum(k.${name})`)}
  from keyed k where k.trace_id = any(array(select trace_id from dearest)) group by 2, 6, 7 having sum(k.messages) > 0
  union all
  select 'traces-' || by, key, agent, project, author, null, null, traces, null, ${eachSum(() => 'null')} from (
    select 'day' as by, day::text as key, null as agent, null as project, null as author, count(*) as traces from (
      select day from keyed group by day, trace_id having sum(messages) > 0
    ) d group by day
    union all
    select 'model', model_index::text, null, null, null, count(*) from (
      select model_index from keyed group by model_index, trace_id having sum(messages) > 0
    ) m group by model_index
    union all
    select 'field', null, agent, project, author, count(*) from of_trace group by agent, project, author
    union all
    select 'unknown', '', null, null, null, count(*) from of_present where class is null having count(*) > 0
  ) n`

/** Stands for sums at a price that the statement was not told of. */
const UNKNOWN = 'traces-unknown' as const

/** The fields of a trace that have sums. Rows `by` `field` have all of them. */
const fields = ['agent', 'project', 'author'] as const
type Fields = Record<(typeof fields)[number], string>

type GroupRow = ({ by: 'day' | 'trace'; key: string } | ({ by: 'field' } & Fields)) & {
  class: number
  kinds: number
  messages: number
} & Record<(typeof columns)[number] | 'cost', number>
type TracesRow = { traces: bigint } & (
  { by: 'traces-day' | 'traces-model' | 'traces-unknown'; key: string } | ({ by: 'traces-field' } & Fields)
)

/** SQL for the messages of each hour of the week, and the traces that have messages in the most quarters of an hour. */
const hoursStatement = `
  with of_traces as (
    select c.trace_id, c.slot, sum(c.messages) as messages from (
      select trace_id, slot, sum(messages)::float8 as messages
      from usage where namespace_id = $1 and ${inPeriod('slot')} group by 1, 2
      union all
      select trace_id, slot, -count(*)::float8 from ${copies} m group by 1, 2
    ) c group by 1, 2 having sum(c.messages) > 0
  ), of_hours as materialized (
    select c.trace_id,
      ((c.slot + ($5::int8[])[width_bucket(c.slot, $4::int8[])] + 3 * 96) / 4 % ${HOURS_OF_WEEK})::int4 as hour,
      sum(c.messages) as messages, count(*)::float8 as quarters
    from of_traces c group by 1, 2
  )
  select null::uuid as id, hour, sum(messages) as count from of_hours group by 2
  union all
  (select trace_id, null, sum(quarters) from of_hours group by 1 order by 3 desc, 1 limit ${MOST_TRACES})`

type HourRow = { id: string | null; hour: number | null; count: number }

type InsightsReads = Pick<Reads<ReadTables>, 'rows'>

type Group = { messages: number; readonly groups: UsageGroup[] }

/** Messages and groups under each key, as they are added up. */
const newGroups = () => {
  const byKey = new Map<string, Group>()
  const add = (key: string, messages: number, group: UsageGroup) => {
    const one = byKey.get(key) ?? { messages: 0, groups: [] }
    byKey.set(key, one)
    one.messages += messages
    one.groups.push(group)
  }
  return { byKey, add }
}

const groupOf = (row: GroupRow, { model, prices }: PriceClass): UsageGroup => [
  model === '' ? null : (JSON.parse(model) as string),
  String(prices),
  row.kinds,
  row.input,
  row.output,
  row.cache_read,
  row.cache_write,
  row.reasoning,
  row.cost,
]

const isTraces = (row: GroupRow | TracesRow): row is TracesRow => row.by.startsWith('traces-')

const keyOf = (literal: string): string | undefined => (literal === '' ? undefined : (JSON.parse(literal) as string))

/** The dearest first; of those without a cost that with the most messages. */
const byCost = (a: Sums, b: Sums): number =>
  (b.cost?.usd ?? -1) - (a.cost?.usd ?? -1) || b.messages - a.messages || b.traces - a.traces

const byMessages = (a: Sums, b: Sums): number => b.messages - a.messages

type Read = {
  readonly models: KnownModels
  readonly classes: readonly PriceClass[]
  readonly rows: readonly (GroupRow | TracesRow)[]
}

/** The models of classes, as traces show them, each with its index. */
const shownModels = (classes: readonly PriceClass[]): ReadonlyMap<string, number> =>
  new Map([...new Set(classes.map((one) => one.shown))].map((shown, i) => [shown, i]))

/** The numbers of traces under each key. */
const newTraces = () => {
  const byKey = new Map<string, number>()
  const add = (by: string, key: string, traces: bigint) =>
    byKey.set(`${by}/${key}`, (byKey.get(`${by}/${key}`) ?? 0) + Number(traces))
  return { add, of: (by: string, key: string | number | undefined) => byKey.get(`${by}/${key}`) ?? 0 }
}

const tracesIn = (rows: Read['rows']) => {
  const traces = newTraces()
  for (const row of rows) {
    if (!isTraces(row)) continue
    if (row.by === 'traces-field') for (const field of fields) traces.add(field, row[field], row.traces)
    else traces.add(row.by.slice('traces-'.length), row.key, row.traces)
  }
  return traces
}

/** The sums under each key, with the numbers of traces. */
const addedUp = ({ models, classes, rows }: Read) => {
  const shown = shownModels(classes)
  const all = { day: newGroups(), agent: newGroups(), project: newGroups(), author: newGroups(), trace: newGroups() }
  const [model, total] = [newGroups(), newGroups()]
  const traces = tracesIn(rows)
  for (const row of rows) {
    if (isTraces(row)) continue
    const priceClass = classes[row.class - 1]!
    const group = groupOf(row, priceClass)
    if (row.by !== 'field') {
      all[row.by].add(row.key, row.messages, group)
      continue
    }
    for (const field of fields) all[field].add(row[field], row.messages, group)
    model.add(priceClass.shown, row.messages, group)
    total.add('', row.messages, group)
  }
  const sumsOf = (by: string, { byKey }: ReturnType<typeof newGroups>): [key: string, sums: Sums][] =>
    [...byKey].map(([key, { messages, groups }]) => [
      key,
      {
        traces: traces.of(by, by === 'model' ? shown.get(key) : key),
        messages,
        ...usageOf(groups, null, models),
      },
    ])
  const keyed = (by: 'agent' | 'project') =>
    sumsOf(by, all[by])
      .map(([key, sums]) => ({ ...sums, key: keyOf(key) }))
      .sort(byCost)
  const agents = keyed('agent')
  const [[, sums] = ['', { traces: 0, messages: 0 }]] = sumsOf('', total)
  return {
    total: { ...sums, traces: agents.reduce((count, one) => count + one.traces, 0) },
    days: new Map(sumsOf('day', all.day).map(([day, one]) => [Number(day) - 1, one])),
    agents,
    projects: keyed('project'),
    models: sumsOf('model', model)
      .map(([literal, one]) => ({ ...one, key: keyOf(literal) }))
      .sort(byCost),
    authors: sumsOf('author', all.author)
      .map(([id, one]) => ({ ...one, key: id === '' ? undefined : id }))
      .sort(byCost),
    dearest: sumsOf('trace', all.trace)
      .flatMap(([id, { cost }]) => (cost ? [{ id, cost }] : []))
      .sort((a, b) => b.cost.usd - a.cost.usd)
      .slice(0, MOST_TRACES),
  }
}

/** The models and prices that a namespace was found to have, whatever the period: so many namespaces are remembered. */
const MOST_REMEMBERED = 500
/** With more of them than this, a namespace has only those remembered that were found last; with more in these, none. */
const MOST_PRICED = 10_000
const memories = new WeakMap<object, BoundedMap<string, readonly Priced[]>>()

const memoryOf = (reads: InsightsReads): BoundedMap<string, readonly Priced[]> => {
  let memory = memories.get(reads)
  if (!memory) memories.set(reads, (memory = new BoundedMap(MOST_REMEMBERED)))
  return memory
}

/** Those of both, each once. */
const together = (some: readonly Priced[], others: readonly Priced[]): Priced[] => [
  ...new Map([...some, ...others].map((one) => [`${one.prices}/${one.model}`, one])).values(),
]

/**
 * The sums need to know which prices there are. To look these up takes a third as long as the sums do, so they are remembered, and looked up again only
 * if the sums have found another one.
 */
const readSums = async (reads: InsightsReads, models: KnownModels, asked: Asked, { seesAll, userId }: Authors) => {
  const { namespaceId, period, days } = asked
  const memory = memoryOf(reads)
  const read = async (priced: readonly Priced[]) => {
    const { classes, values } = priceClasses(models, priced)
    const shown = shownModels(classes)
    const rows = await reads.rows<(GroupRow | TracesRow) & Row>('insights-sums', sumsStatement, [
      ...[namespaceId, period.from, period.to, int8s(days), ...values, seesAll, userId],
      int4s(classes.map((one) => shown.get(one.shown)!)),
    ])
    return { models, classes, rows }
  }
  const lookUp = async () => {
    const priced = await pricedIn(reads, namespaceId, period)
    const all = together(memory.get(namespaceId) ?? [], priced)
    const kept = all.length > MOST_PRICED ? priced : all
    if (kept.length > MOST_PRICED) memory.delete(namespaceId)
    else memory.set(namespaceId, kept)
    return read(priced)
  }
  const remembered = memory.get(namespaceId)
  const found = remembered && (await read(remembered))
  return addedUp(found && !found.rows.some(({ by }) => by === UNKNOWN) ? found : await lookUp())
}

const readHours = async (reads: InsightsReads, { namespaceId, period }: Asked, offsets: readonly Offset[]) => {
  const rows = await reads.rows<HourRow & Row>('insights-hours', hoursStatement, [
    namespaceId,
    period.from,
    period.to,
    int8s(offsets.map(({ from }) => from)),
    int8s(offsets.map(({ quarters }) => quarters)),
  ])
  const hours = Array.from({ length: HOURS_OF_WEEK }, () => 0)
  const longest: LongTrace[] = []
  for (const { id, hour, count } of rows)
    if (id === null) hours[hour!] = count
    else longest.push({ id, quarters: count })
  return { hours, longest: longest.sort((a, b) => b.quarters - a.quarters) }
}

const readTools = async (reads: InsightsReads, models: KnownModels, asked: Asked, authors: Authors) => {
  const [rows, failed] = await Promise.all([
    usageRows(reads, models, 'tool', { ...asked, days: [] }, authors),
    failedCalls(reads, asked),
  ])
  return rows
    .map(({ key, traces, messages }) => ({
      key: keyOf(key),
      traces: Number(traces),
      messages: Number(messages),
      failed: failed.get(key) ?? 0,
    }))
    .sort(byMessages)
}

/** What the messages of a namespace have used and cost in a period, as a reader may see it; its hours are those of a time zone. */
export const namespaceInsights = async (
  reads: InsightsReads,
  models: KnownModels,
  asked: Asked,
  authors: Authors,
  timeZone: string,
): Promise<NamespaceInsights> => {
  const [sums, hours, tools] = await Promise.all([
    readSums(reads, models, asked, authors),
    readHours(reads, asked, zoneOffsets(asked.period, timeZone)),
    readTools(reads, models, asked, authors),
  ])
  return { ...sums, ...hours, tools }
}
