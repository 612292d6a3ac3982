import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { type Column, printTable } from '../cli/table.ts'
import { localTimeZone, shortTime } from '../cli/time-text.ts'
import {
  NO_USAGE_OF,
  type TokenCounts,
  costText,
  dollarsText,
  sumOfKnown,
  tokenCounts,
  tokensText,
  unpricedText,
} from '../base/usage-text.ts'
import { MOST_DAYS, type UsageKey } from '../contract/namespace-usage.ts'
import { hasStatus } from '../client/api/errors.ts'
import type { UsageRow } from '../client/api/namespaces.ts'
import { type Access, explainNamespaceRefusal, openNamespace } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

/** By what rows are told apart, as the API takes it. */
export type By = UsageKey | `day,${Exclude<UsageKey, 'day'>}`

/** The period is in milliseconds; `since` is inclusive, `until` exclusive. */
type Options = ClientOptions & { readonly by: By; readonly since?: number; readonly until?: number }

const DEFAULT_DAYS = 30
const MIN_ID = 8
const UNKNOWN = '-'

/** The first moment, in the local time zone, of the last 30 days before a time. */
const defaultStart = (until: number): number => {
  const day = new Date(until - 1)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - (DEFAULT_DAYS - 1)).getTime()
}

type Sums = Pick<UsageRow, 'traces' | 'messages' | 'usage' | 'cost'>

const tokenNames = ['inputTokens', 'cacheWriteTokens', 'cacheReadTokens', 'outputTokens', 'reasoningTokens'] as const

const costOf = (rows: readonly UsageRow[]): Sums['cost'] => {
  const costs = rows.flatMap(({ cost }) => cost ?? [])
  const [of, ...others] = new Set(costs.map((cost) => cost.of))
  if (of === undefined) return undefined
  const unpriced = costs.flatMap((cost) => cost.unpriced ?? [])
  const usd = costs.reduce((sum, cost) => sum + cost.usd, 0)
  return { usd, of: others.length > 0 ? 'mixed' : of, ...(unpriced.length > 0 ? { unpriced } : {}) }
}

/** The sums of rows that have no trace in common. */
const addUp = (rows: readonly UsageRow[]): Sums => {
  const total = (count: (row: UsageRow) => number) => rows.reduce((sum, row) => sum + count(row), 0)
  const usage = Object.fromEntries(
    tokenNames.flatMap((name) => {
      const sum = sumOfKnown(...rows.map((row) => row.usage?.[name]))
      return sum === undefined ? [] : [[name, sum]]
    }),
  )
  const cost = costOf(rows)
  return {
    traces: total(({ traces }) => traces),
    messages: total(({ messages }) => messages),
    usage,
    ...(cost ? { cost } : {}),
  }
}

/** A row of the table, with what stands in its first columns. */
type Shown = Sums & { readonly labels: readonly string[] }

const labelOf = (by: By, { key, displayName }: UsageRow): string => {
  if (!by.endsWith('author')) return key ?? UNKNOWN
  return displayName ?? key?.slice(0, MIN_ID) ?? 'others'
}

const shownRow =
  (by: By) =>
  (row: UsageRow): Shown => ({ ...row, labels: [...(row.day === undefined ? [] : [row.day]), labelOf(by, row)] })

const tokenColumn = (head: string, name: keyof TokenCounts, drop?: number): Column<Shown> => ({
  head,
  align: 'right',
  cell: ({ usage }) => {
    const count = tokenCounts(usage)[name]
    return count === undefined ? UNKNOWN : tokensText(count)
  },
  ...(drop === undefined ? {} : { drop }),
})

/** The heading says how dollars were found if that is the same in all rows, else each row says it. */
const costColumn = (rows: readonly Shown[]): Column<Shown> => {
  const isListed = rows.every(({ cost }) => cost === undefined || cost.of === 'prices')
  const text = isListed ? ({ usd }: { usd: number }) => dollarsText(usd) : costText
  return {
    head: isListed ? 'cost at list prices' : 'cost',
    align: 'right',
    min: 20,
    cell: ({ cost }) => (cost === undefined ? UNKNOWN : text(cost)),
  }
}

const columnsFor = (by: By, rows: readonly Shown[]): Column<Shown>[] => {
  const counts: Column<Shown>[] = [
    ...by.split(',').map((head, i) => ({ head, cell: ({ labels }: Shown) => labels[i] ?? '', min: 10 })),
    { head: 'sessions', cell: ({ traces }) => String(traces), align: 'right', drop: 2 },
    { head: 'messages', cell: ({ messages }) => String(messages), align: 'right', drop: 3 },
  ]
  if (by.endsWith('tool')) return counts
  return [
    ...counts,
    tokenColumn('in', 'input'),
    tokenColumn('cached', 'cached', 1),
    tokenColumn('out', 'output'),
    tokenColumn('thinking', 'thinking', 4),
    costColumn(rows),
  ]
}

const named = (rows: readonly UsageRow[], none: string): string[] => rows.map(({ key }) => key ?? none)

const listed = (names: readonly string[]): string => new Intl.ListFormat('en').format(names)

/** What the table cannot say: models without a price, and agents of which little is known. */
const notesOn = (byModel: readonly UsageRow[], byAgent: readonly UsageRow[]): string[] => {
  const without = byAgent.filter(({ usage }) => usage === undefined)
  if (without.length === byAgent.length) return [`No usage is known of these messages. ${NO_USAGE_OF}`]
  const onlyOutput = byAgent.filter(({ usage }) => {
    const { input, cached, output } = tokenCounts(usage)
    return output !== undefined && input === undefined && cached === undefined
  })
  const unpriced = byModel.flatMap((row) => {
    if (row.usage === undefined) return []
    return row.cost ? (row.cost.unpriced ?? []) : named([row], 'messages without a model')
  })
  const unpricedNote = unpricedText([...new Set(unpriced)])
  return [
    ...(unpricedNote === undefined ? [] : [unpricedNote]),
    ...(without.length > 0 ? [`no usage is known of ${listed(named(without, UNKNOWN))}`] : []),
    ...(onlyOutput.length > 0 ? [`only the output is known of ${listed(named(onlyOutput, UNKNOWN))}`] : []),
  ]
}

/** Prints the table, below it the totals, and what the table cannot say. */
const printUsage = async (by: By, rows: readonly UsageRow[], read: (by: By) => Promise<UsageRow[]>): Promise<void> => {
  const shown = rows.map(shownRow(by))
  // A message that calls several tools is in several rows.
  if (by.endsWith('tool')) return printTable(columnsFor(by, shown), shown)
  const [byAgent, byModel] = [await read('agent'), await read('model')]
  const all = [...shown, { ...addUp(byAgent), labels: ['total'] }]
  await printTable(columnsFor(by, all), all)
  await printLines(notesOn(byModel, byAgent).map((text) => ({ text, style: 'dim' })))
}

const DAY_MS = 86_400_000

/** Prints what the messages of a namespace have used and cost. */
export const usage = async (access: Access, options: Options): Promise<number> => {
  const { by, until = Date.now(), since = defaultStart(until) } = options
  if (since >= until) throw new UsageError('--since must be before --until.')
  if (until - since > MOST_DAYS * DAY_MS)
    throw new UsageError(`--since must be at most ${MOST_DAYS} days before --until. Ask for the years one by one.`)
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const period = { from: since, to: until, tz: localTimeZone() }
  const read = (key: By): Promise<UsageRow[]> =>
    client.usage(slug, { ...period, by: key }).catch((error: unknown) => {
      if (hasStatus(error, 400)) throw new UsageError(error.message, { cause: error })
      return explainNamespaceRefusal(opened, 'see what was used')(error)
    })
  const rows = await read(by)
  if (options.json) for (const row of rows) await printDocument({ type: 'row', row })
  else if (rows.length === 0)
    say(
      `The namespace "${slug}" has no messages from ${shortTime(since)} to ${shortTime(until)}. Ask for another time by --since and --until.`,
    )
  else {
    const head = `${slug}, ${shortTime(since)} to ${shortTime(until)}, days in ${period.tz}`
    await printLines([{ text: head, style: 'dim' }])
    await printUsage(by, rows, read)
  }
  return exitCodes.ok
}
