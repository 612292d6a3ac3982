import { groups } from '../../../projections/index.ts'
import { bytesText, countText, elapsedText } from '../../base/for-people.ts'
import { exitCodes } from '../../cli/exit.ts'
import { io } from '../../cli/io.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import { printTable } from '../../cli/table.ts'
import { readConfig } from '../../server/config.ts'
import { withDatabase } from '../support/database.ts'
import { type Figures, type GroupLag, type MissingRight, type Size, isUnseen } from './figures.ts'
import { type Limit, type LimitName, bytesPerDay, endsSoon, limitsOf } from './limits.ts'
import { readFigures } from './read-figures.ts'

const documentOf = ({ events, growth, sizes, missing, lags }: Figures, limits: readonly Limit[], at: number) => ({
  type: 'doctor',
  at,
  events,
  growth: isUnseen(growth) ? { unknown: growth.unseen } : growth,
  sizes,
  ...(isUnseen(lags) ? {} : { lags }),
  limits,
  missingRights: missing,
})

const PART_NAMES: Readonly<Record<string, string>> = {
  tree: 'audit tree',
  other: 'operational data',
  unused: 'read models not in use',
}

const partName = ({ part }: Size): string =>
  groups.some(({ name }) => name === part) ? `read models ${part}` : (PART_NAMES[part] ?? part)

const printSizes = ({ sizes }: Figures): Promise<void> =>
  printTable(
    [
      { head: 'what', cell: partName },
      { head: 'size', cell: ({ bytes, isEstimate }) => `${isEstimate ? '~' : ''}${bytesText(bytes)}`, align: 'right' },
      { head: 'rows (about)', cell: ({ rows }) => countText(Math.round(rows)), align: 'right' },
    ],
    sizes.filter(({ part, bytes }) => bytes > 0 || part === 'log'),
  )

const estimatesSaid = ({ sizes }: Figures): string[] =>
  sizes.some(({ isEstimate }) => isEstimate)
    ? ['Sizes with ~ are those of the last vacuum: to read them from the files would have taken too long.']
    : []

const growthSaid = (figures: Figures): string => {
  const { growth, events } = figures
  const all = `${countText(events)} events`
  if (isUnseen(growth)) return `${all} in the audit tree. How much the log grows is not seen: ${growth.unseen}.`
  const { lastDay, lastWeek } = growth
  if (lastDay === undefined) return `${all} in the log. Its growth is not known yet: it is less than a day old.`
  const week = lastWeek === undefined ? 'that of a week is not known yet' : `${countText(lastWeek)} in the last week`
  const bytes = bytesText(bytesPerDay(figures) ?? 0)
  return `${all} in the log, ${countText(lastDay)} in the last day, ${week}: about ${bytes} a day.`
}

const lagSaid = ({ group, events, ms, isStopped }: GroupLag): string =>
  `Read models ${group}: ${countText(events)} events behind, for ${elapsedText(ms)}${isStopped ? ', and stopped' : ''}.`

const lagsSaid = ({ lags }: Figures): string[] =>
  isUnseen(lags) ? [] : lags.filter(({ events, isStopped }) => events > 0 || isStopped).map(lagSaid)

const amountText = (amount: number | undefined, unit: Limit['unit']): string => {
  if (amount === undefined) return '-'
  if (unit === 'bytes') return bytesText(amount)
  return unit === 'seconds' ? elapsedText(amount * 1_000) : countText(Math.round(amount))
}

const LIMIT_NAMES: Readonly<Record<LimitName, string>> = {
  disk: 'disk',
  room: 'room to rebuild',
  connections: 'connections',
  segments: 'search segments',
  rebuild: 'rebuild',
  lag: 'lag',
  wal: 'WAL for standbys',
}

const YEAR_DAYS = 365
const MOST_YEARS = 10

const endText = ({ days, unknown }: Limit): string => {
  if (unknown !== undefined) return 'not known'
  if (days === undefined || days > MOST_YEARS * YEAR_DAYS) return 'not foreseen'
  if (days === 0) return 'now'
  if (days < 1) return 'within a day'
  return days < 2 * YEAR_DAYS ? `in ${Math.floor(days)} d` : `in ${Math.floor(days / YEAR_DAYS)} years`
}

const printLimits = (limits: readonly Limit[]): Promise<void> =>
  printTable(
    [
      { head: 'what ends', cell: ({ name }) => LIMIT_NAMES[name] },
      { head: 'now', cell: ({ now, unit }) => amountText(now, unit), align: 'right' },
      { head: 'limit', cell: ({ limit, unit }) => amountText(limit, unit), align: 'right' },
      { head: 'ends', cell: endText },
    ],
    limits,
  )

/** What helps where an end is foreseen within a year. */
const adviceOn = ({ name, days, helps }: Limit): string[] =>
  days !== undefined && days <= YEAR_DAYS ? [`${LIMIT_NAMES[name]}: ${helps}`] : []

/** Why ends are not known, each reason once. */
const reasonsOf = (limits: readonly Limit[]): string[] =>
  [...Map.groupBy(limits, ({ unknown }) => unknown)].flatMap(([reason, alike]) =>
    reason === undefined ? [] : [`${alike.map(({ name }) => LIMIT_NAMES[name]).join(', ')}: ${reason}.`],
  )

const missingSaid = ({ right, hides, grant }: MissingRight): string =>
  `The role lacks the right ${right}: without it one does not see ${hides}. As a superuser, run: ${grant}`

const printFigures = async (figures: Figures, limits: readonly Limit[]): Promise<void> => {
  await printSizes(figures)
  await printLines([...estimatesSaid(figures), '', growthSaid(figures), ...lagsSaid(figures), ''])
  await printLimits(limits)
  const said = [...limits.flatMap(adviceOn), ...reasonsOf(limits), ...figures.missing.map(missingSaid)]
  await printLines(said.length === 0 ? [] : ['', ...said])
}

const exitCodeOf = ({ missing }: Figures, limits: readonly Limit[]): number => {
  if (limits.some(endsSoon)) return exitCodes.found
  return missing.length > 0 ? exitCodes.failed : exitCodes.ok
}

export const examine = ({ json = false }: { readonly json?: boolean }): Promise<number> => {
  const config = readConfig(io().env)
  return withDatabase(config, async (url) => {
    const now = Date.now()
    const figures = await readFigures({ url, config, now })
    const limits = limitsOf(figures)
    await (json ? printDocument(documentOf(figures, limits, now)) : printFigures(figures, limits))
    return exitCodeOf(figures, limits)
  })
}
