import { MOST_ROWS, type UsageKey } from '../../contract/namespace-usage.ts'
import type { Cost, UsageSums } from '../../contract/usage.ts'
import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import type { KnownModels } from '../models/registry.ts'
import { type Added, addMessages, eachUsed, newAdded, newNumbers, sumsOf } from './added-up.ts'
import { type Asked, type Authors, type UsageReads, dayRows } from './day-rows.ts'
import { addUsed, newPriced } from './sums.ts'
import { under } from './under.ts'

/** What messages have used, on the day with this index, with one key; undefined without one. */
export type SumRow = {
  readonly day: number
  readonly key: string | undefined
  readonly traces: number
  readonly messages: number
  readonly usage?: UsageSums
  readonly cost?: Cost
}

/** What is added up on each day under each key. */
const newTable = () => {
  const days = new Map<number, Map<string | undefined, Added>>()
  let size = 0
  const start = () => {
    size += 1
    return newAdded()
  }
  const at = (day: number, key: string | null | undefined): Added =>
    under(
      under(days, day, () => new Map()),
      key ?? undefined,
      start,
    )
  return { days, at, size: () => size }
}

type Reading = {
  readonly readRows: ReadRows
  readonly models: KnownModels
  readonly asked: Asked
  readonly authors: Authors
}
type Table = ReturnType<typeof newTable>

/** By the day, or by what the trace of the messages is. */
const addByTrace = async (
  by: 'day' | 'agent' | 'project' | 'author',
  { readRows, models, asked, authors }: Reading,
  { at, size }: Table,
) => {
  const [pricedAs, numberOf] = [newPriced(models), newNumbers()]
  const names = by === 'day' ? (['model', 'used'] as const) : (['model', 'used', by] as const)
  for await (const rows of dayRows(readRows, names, asked, authors)) {
    for (const [id, day, messages, model, used, key] of rows) {
      const to = at(day, key)
      addMessages(to, numberOf(id), messages)
      eachUsed(used, model, messages, pricedAs, (...some) => addUsed(to.used, ...some))
    }
    if (size() > MOST_ROWS) return
  }
}

const addByModel = async ({ readRows, models, asked, authors }: Reading, { at, size }: Table) => {
  const [pricedAs, numberOf] = [newPriced(models), newNumbers()]
  for await (const rows of dayRows(readRows, ['model', 'used'], asked, authors)) {
    for (const [id, day, messages, model, used] of rows) {
      const trace = numberOf(id)
      eachUsed(used, model, messages, pricedAs, (priced, values, i, count) => {
        const to = at(day, priced.model)
        addMessages(to, trace, count)
        addUsed(to.used, priced, values, i, count)
      })
    }
    if (size() > MOST_ROWS) return
  }
}

const addByTool = async ({ readRows, asked, authors }: Reading, { at, size }: Table) => {
  const numberOf = newNumbers()
  for await (const rows of dayRows(readRows, ['tools'], asked, authors)) {
    for (const [id, day, , tools] of rows) {
      const trace = numberOf(id)
      for (let i = 0; i < tools.length; i += 2) addMessages(at(day, tools[i] as string), trace, tools[i + 1] as number)
    }
    if (size() > MOST_ROWS) return
  }
}

/** What the messages of a namespace have used and cost, by a key, in no order; if there are too many rows for an answer, only more than it may have. */
export const usageRows = async (
  reads: UsageReads,
  models: KnownModels,
  by: UsageKey,
  asked: Asked,
  authors: Authors,
): Promise<SumRow[]> => {
  const table = await reads.snapshot(async (readRows) => {
    const [table, reading] = [newTable(), { readRows, models, asked, authors }]
    if (by === 'tool') await addByTool(reading, table)
    else if (by === 'model') await addByModel(reading, table)
    else await addByTrace(by, reading, table)
    return table
  })
  return [...table.days].flatMap(([day, byKey]) =>
    [...byKey].map(([key, added]) => ({ day, key, ...sumsOf(added.traces.size, added) })),
  )
}
