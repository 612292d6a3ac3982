import type { Cost, UsageSums } from '../../contract/usage.ts'
import type { KnownModels } from '../models/registry.ts'
import { type Added, addMessages, addTo, eachUsed, newAdded, newShownModel, sumsOf, under } from './added-up.ts'
import { type Asked, type Authors, type DayRow, type UsageReads, dayRows } from './day-rows.ts'
import { failedCalls } from './failed-calls.ts'
import { dollarsOf, newPriced, rounded } from './sums.ts'
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

/** A trace with what it has cost in a period, in dollars. */
export type DearTrace = { readonly id: string; readonly usd: number }
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
const DAY_QUARTERS = 96
/** The first day of 1970 was a Thursday. */
const FIRST_WEEKDAY = 3

/** How many traces are shown as the dearest and the longest. */
const MOST_TRACES = 5

/** The dearest first; of those without a cost that with the most messages. */
const byCost = (a: Sums, b: Sums): number =>
  (b.cost?.usd ?? -1) - (a.cost?.usd ?? -1) || b.messages - a.messages || b.traces - a.traces

const byMessages = (a: Sums, b: Sums): number => b.messages - a.messages

const COLUMNS = ['model', 'used', 'agent', 'project', 'author', 'quarters', 'tools'] as const

type ByKey = Map<string | undefined, Added>

/** A trace of the period: what its messages cost, and in how many quarters of an hour they are. */
type Seen = { readonly number: number; usd: number; quarters: number }

/** What is added up. */
const newInsights = () => {
  const newByKey = (): ByKey => new Map()
  return {
    total: newAdded(),
    days: new Map<number, Added>(),
    agents: newByKey(),
    models: newByKey(),
    projects: newByKey(),
    authors: newByKey(),
    tools: new Map<string, Added>(),
    hours: Array.from({ length: HOURS_OF_WEEK }, () => 0),
    traces: new Map<string, Seen>(),
  }
}

/** The hour of the week of a quarter of an hour, by the clocks of a zone. */
const hourIn = (offsets: readonly Offset[]) => {
  const ahead = (slot: number) => (offsets.findLast(({ from }) => from <= slot) ?? offsets[0]!).quarters
  return (slot: number): number =>
    Math.floor((slot + ahead(slot) + FIRST_WEEKDAY * DAY_QUARTERS) / 4) % HOURS_OF_WEEK
}

type All = ReturnType<typeof newInsights>

/** Adds the rows of a namespace. */
const newAdding = (all: All, models: KnownModels, offsets: readonly Offset[]) => {
  const [pricedAs, shown, hourOf] = [newPriced(models), newShownModel(models), hourIn(offsets)]

  const addQuarters = (seen: Seen, quarters: readonly number[]) => {
    seen.quarters += quarters.length / 2
    for (let i = 0; i < quarters.length; i += 2) all.hours[hourOf(quarters[i]!)]! += quarters[i + 1]!
  }

  return ([id, day, messages, model, used, agent, project, author, quarters, tools]: DayRow<typeof COLUMNS>) => {
    const seen = under(all.traces, id, () => ({ number: all.traces.size, usd: 0, quarters: 0 }))
    const { number } = seen
    const sums = [
      all.total,
      under(all.days, day, newAdded),
      under(all.agents, agent ?? undefined, newAdded),
      under(all.projects, project ?? undefined, newAdded),
      under(all.authors, author ?? undefined, newAdded),
    ]
    eachUsed(used, model, messages, pricedAs, (...some) => {
      const [priced, values, at] = some
      for (const to of sums) addTo(to, number, some)
      addTo(under(all.models, shown(priced.spelling), newAdded), number, some)
      seen.usd += dollarsOf(priced, values as readonly number[], at) ?? 0
    })
    addQuarters(seen, quarters)
    for (let i = 0; i < tools.length; i += 2)
      addMessages(under(all.tools, tools[i] as string, newAdded), number, tools[i + 1] as number)
  }
}

/** The traces with the most of something, which is more than nothing; of those with as much, the first ones by their ids. */
const most = (traces: All['traces'], of: (seen: Seen) => number): [id: string, amount: number][] => {
  const found: [id: string, amount: number][] = []
  for (const [id, seen] of traces) {
    const amount = of(seen)
    if (amount <= 0 || (found.length === MOST_TRACES && amount < found.at(-1)![1])) continue
    found.push([id, amount])
    found.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    if (found.length > MOST_TRACES) found.pop()
  }
  return found
}

/** What the messages of a namespace have used and cost in a period, as a reader may see it; its hours are those of a time zone. */
export const namespaceInsights = async (
  reads: UsageReads,
  models: KnownModels,
  asked: Asked,
  authors: Authors,
  timeZone: string,
): Promise<NamespaceInsights> => {
  const failing = failedCalls(reads, asked)
  failing.catch(() => {}) // awaited below, unless the rows fail first
  const all = newInsights()
  const add = newAdding(all, models, zoneOffsets(asked.period, timeZone))
  for await (const rows of dayRows(reads, COLUMNS, asked, authors)) rows.forEach(add)
  const failed = await failing
  const keyed = (byKey: ByKey): KeyedSums[] =>
    [...byKey].map(([key, added]) => ({ ...sumsOf(added, models), key })).sort(byCost)
  return {
    total: sumsOf(all.total, models),
    days: new Map([...all.days].map(([day, added]) => [day - 1, sumsOf(added, models)])),
    agents: keyed(all.agents),
    models: keyed(all.models),
    projects: keyed(all.projects),
    authors: keyed(all.authors),
    tools: [...all.tools]
      .map(([key, { traces, messages }]) => ({ key, traces: traces.size, messages, failed: failed.get(key) ?? 0 }))
      .sort(byMessages),
    hours: all.hours,
    dearest: most(all.traces, ({ usd }) => rounded(usd)).map(([id, usd]) => ({ id, usd })),
    longest: most(all.traces, ({ quarters }) => quarters).map(([id, quarters]) => ({ id, quarters })),
  }
}
