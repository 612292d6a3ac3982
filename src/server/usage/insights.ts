import type { Cost, UsageSums } from '../../contract/usage.ts'
import { DAY_QUARTERS } from '../../tables/usage.ts'
import type { KnownModels } from '../models/registry.ts'
import { type Added, addMessages, eachUsed, newAdded, sumsOf } from './added-up.ts'
import { type Asked, type Authors, type DayRow, type UsageReads, dayRows } from './day-rows.ts'
import { failedCalls } from './failed-calls.ts'
import { type NumberSet, newNumberSet } from './number-set.ts'
import { MESSAGES, type Used, addUsed, dollarsOf, newPriced, rounded } from './sums.ts'
import { under } from './under.ts'
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
/** The first day of 1970 was a Thursday. */
const FIRST_WEEKDAY = 3

/** How many traces are shown as the dearest and the longest. */
const MOST_TRACES = 5

/** The dearest first; of those without a cost that with the most messages. */
const byCost = (a: Sums, b: Sums): number =>
  (b.cost?.usd ?? -1) - (a.cost?.usd ?? -1) || b.messages - a.messages || b.traces - a.traces

const byMessages = (a: Sums, b: Sums): number => b.messages - a.messages

const COLUMNS = ['model', 'used', 'agent', 'project', 'author', 'quarters', 'tools'] as const

type Key = string | undefined
type Summed = { traces: number; messages: number; readonly used: Used }

/** What the messages of the traces of one agent, project and author come to. Few of these occur together. */
type Part = Summed & { readonly agent: Key; readonly project: Key; readonly author: Key }

/** A trace of the period, with a number from 0 on: what its messages cost, and in how many quarters of an hour they are. */
type Seen = { readonly part: Part; readonly number: number; usd: number; quarters: number }

/** How many traces have a tool, and in how many of their messages. */
type OfTool = { readonly traces: NumberSet; messages: number }

/** The hour of the week of a quarter of an hour, by the clocks of a zone. */
const hourIn = (offsets: readonly Offset[]) => {
  const ahead = (slot: number) => (offsets.findLast(({ from }) => from <= slot) ?? offsets[0]!).quarters
  return (slot: number): number => Math.floor((slot + ahead(slot) + FIRST_WEEKDAY * DAY_QUARTERS) / 4) % HOURS_OF_WEEK
}

const newOfTool = (): OfTool => ({ traces: newNumberSet(), messages: 0 })

/** Adds rows up. */
const newInsights = (models: KnownModels, offsets: readonly Offset[]) => {
  const [pricedAs, hourOf] = [newPriced(models), hourIn(offsets)]
  const parts: Part[] = []
  const byFields = new Map<Key, Map<Key, Map<Key, Part>>>()
  const all = {
    parts,
    days: new Map<number, Added>(),
    tools: new Map<string, OfTool>(),
    tracesOfModels: new Map<Key, NumberSet>(),
    hours: Array.from({ length: HOURS_OF_WEEK }, () => 0),
    traces: new Map<string, Seen>(),
  }

  const partOf = (agent: Key, project: Key, author: Key): Part => {
    const ofAgent = under(byFields, agent, () => new Map<Key, Map<Key, Part>>())
    const ofProject = under(ofAgent, project, () => new Map<Key, Part>())
    return under(ofProject, author, () => {
      const part = { agent, project, author, traces: 0, messages: 0, used: new Map() }
      parts.push(part)
      return part
    })
  }

  const addQuarters = (seen: Seen, quarters: readonly number[]) => {
    seen.quarters += quarters.length / 2
    for (let i = 0; i < quarters.length; i += 2) all.hours[hourOf(quarters[i]!)]! += quarters[i + 1]!
  }

  const addTools = ({ number }: Seen, tools: readonly (string | number)[]) => {
    for (let i = 0; i < tools.length; i += 2) {
      const sums = under(all.tools, tools[i] as string, newOfTool)
      sums.traces.add(number)
      sums.messages += tools[i + 1] as number
    }
  }

  const add = ([id, day, messages, model, used, ...others]: DayRow<typeof COLUMNS>) => {
    const [agent, project, author, quarters, tools] = others
    const seen = under(all.traces, id, () => {
      const part = partOf(agent ?? undefined, project ?? undefined, author ?? undefined)
      part.traces += 1
      return { number: all.traces.size, part, usd: 0, quarters: 0 }
    })
    const ofDay = under(all.days, day, newAdded)
    addMessages(ofDay, seen.number, messages)
    seen.part.messages += messages
    eachUsed(used, model, messages, pricedAs, (priced, values, at, count) => {
      addUsed(ofDay.used, priced, values, at, count)
      addUsed(seen.part.used, priced, values, at, count)
      under(all.tracesOfModels, priced.model, newNumberSet).add(seen.number)
      seen.usd += dollarsOf(priced, values, at) ?? 0
    })
    addQuarters(seen, quarters)
    addTools(seen, tools)
  }

  return { all, add }
}

type All = ReturnType<typeof newInsights>['all']

const newSummed = (): Summed => ({ traces: 0, messages: 0, used: new Map() })

/** The sums of parts under each key. */
const byKey = (parts: readonly Part[], keyOf: (part: Part) => Key): Map<Key, Summed> => {
  const found = new Map<Key, Summed>()
  for (const part of parts) {
    const sums = under(found, keyOf(part), newSummed)
    sums.traces += part.traces
    sums.messages += part.messages
    for (const [priced, values] of part.used) addUsed(sums.used, priced, values, 0, values[MESSAGES]!)
  }
  return found
}

/** The sums of models as traces show them. */
const byModel = ({ parts, tracesOfModels }: All): Map<Key, Summed> => {
  const found = new Map<Key, Summed>()
  for (const { used } of parts)
    for (const [priced, values] of used) {
      const sums = under(found, priced.model, newSummed)
      sums.traces = tracesOfModels.get(priced.model)!.size()
      sums.messages += values[MESSAGES]!
      addUsed(sums.used, priced, values, 0, values[MESSAGES]!)
    }
  return found
}

/** The traces with the most of something, which is more than nothing; of those with as much, the first ones by their ids. */
const most = (traces: ReadonlyMap<string, Seen>, of: (seen: Seen) => number): [id: string, amount: number][] => {
  const found: [id: string, amount: number][] = []
  const byAmount = ([a, x]: (typeof found)[0], [b, y]: (typeof found)[0]) => y - x || (a < b ? -1 : 1)
  for (const [id, seen] of traces) {
    const one: (typeof found)[0] = [id, of(seen)]
    if (one[1] <= 0 || (found.length === MOST_TRACES && byAmount(found.at(-1)!, one) < 0)) continue
    found.push(one)
    found.sort(byAmount).splice(MOST_TRACES)
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
  const { all, failed } = await reads.snapshot(async (readRows) => {
    const { all, add } = newInsights(models, zoneOffsets(asked.period, timeZone))
    for await (const rows of dayRows(readRows, COLUMNS, asked, authors)) rows.forEach(add)
    return { all, failed: await failedCalls(readRows, asked) }
  })
  const { parts, days, tools, hours, traces } = all
  const shownSums = (sums: Summed): Sums => sumsOf(sums.traces, sums)
  const keyed = (sums: Map<Key, Summed>): KeyedSums[] =>
    [...sums].map(([key, one]) => ({ ...shownSums(one), key })).sort(byCost)
  return {
    total: shownSums(byKey(parts, () => undefined).get(undefined) ?? newSummed()),
    days: new Map([...days].map(([day, added]) => [day - 1, sumsOf(added.traces.size, added)])),
    agents: keyed(byKey(parts, ({ agent }) => agent)),
    models: keyed(byModel(all)),
    projects: keyed(byKey(parts, ({ project }) => project)),
    authors: keyed(byKey(parts, ({ author }) => author)),
    tools: [...tools]
      .map(([key, { traces, messages }]) => ({ key, traces: traces.size(), messages, failed: failed.get(key) ?? 0 }))
      .sort(byMessages),
    hours,
    dearest: most(traces, ({ usd }) => rounded(usd)).map(([id, usd]) => ({ id, usd })),
    longest: most(traces, ({ quarters }) => quarters).map(([id, quarters]) => ({ id, quarters })),
  }
}
