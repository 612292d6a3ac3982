import type { FastifyInstance } from 'fastify'
import { MOST_DAYS, MOST_ROWS, type UsageKey, type UsageRow, namespaceUsage } from '../../contract/namespace-usage.ts'
import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { requireCaller } from '../http/caller.ts'
import { invalid } from '../http/http-error.ts'
import { route } from '../http/route.ts'
import type { ModelRegistry } from '../models/registry.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import { displayNamesOf } from '../user/queries.ts'
import { daysOf, periodOf } from './days.ts'
import { type SumRow, usageRows } from './queries.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30

export type UsageServices = {
  readonly reads: Reads<ReadTables>
  readonly models: ModelRegistry
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** A unit of UTF-16 as a number by which code points are in order: surrogates stand for the highest ones. */
const rankOf = (unit: number): number => {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** Compares texts by their code points. */
const byCodePoints = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++)
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i))
  return a.length - b.length
}

/** By day and then by key; the row without a key comes last. */
const byDayAndKey = (a: UsageRow, b: UsageRow): number => {
  const days = byCodePoints(a.day ?? '', b.day ?? '')
  if (days !== 0) return days
  if (a.key === undefined || b.key === undefined) return Number(a.key === undefined) - Number(b.key === undefined)
  return byCodePoints(a.key, b.key)
}

type Naming = { readonly by: UsageKey; readonly dates: readonly string[]; readonly isDaily: boolean }

/** A row of the answer. */
const rowOf = ({ day, key: named, ...sums }: SumRow, { by, dates, isDaily }: Naming): UsageRow => {
  const date = dates[day - 1]
  const key = by === 'day' ? date : named
  return { ...(isDaily ? { day: date } : {}), ...(key === undefined ? {} : { key }), ...sums }
}

const withNames = async (reads: UsageServices['reads'], rows: readonly UsageRow[]): Promise<UsageRow[]> => {
  const names = await displayNamesOf(
    reads,
    rows.flatMap(({ key }) => key ?? []),
  )
  return rows.map((row) => {
    const displayName = row.key === undefined ? undefined : names.get(row.key)
    return displayName === undefined ? row : { ...row, displayName }
  })
}

/** `GET /v1/namespaces/{slug}/usage`: what the messages of a namespace have used and cost. */
export const usageRoute = (app: FastifyInstance, { reads, models, now }: UsageServices): void => {
  route(app, namespaceUsage, 'GET /v1/namespaces/{slug}/usage', async (request) => {
    const { params, query } = request
    const caller = requireCaller(request)
    const { id, role } = await namespaceOfMember(reads, idOfSlug(params.slug), caller.userId)
    const { by: { key: by, isDaily } = { key: 'day', isDaily: false }, tz = 'UTC' } = query
    const to = query.to ?? now()
    const from = query.from ?? to - DEFAULT_DAYS * DAY_MS
    if (to - from > MOST_DAYS * DAY_MS) throw invalid('from', `must be at most ${MOST_DAYS} days before \`to\``)
    const period = periodOf(from, to)
    const days = by === 'day' || isDaily ? daysOf(period, tz) : []
    const known = await models.known()
    const asked = { namespaceId: id, period, days: days.map((day) => day.from) }
    const found = await usageRows(reads, known, by, asked, { userId: caller.userId, seesAll: role === 'admin' })
    if (found.length > MOST_ROWS)
      throw invalid('by', `there would be more than ${MOST_ROWS} rows: ask for a shorter period, or by something else`)
    const naming = { by, dates: days.map(({ date }) => date), isDaily }
    const rows = found.map((row) => rowOf(row, naming)).sort(byDayAndKey)
    return { rows: by === 'author' ? await withNames(reads, rows) : rows }
  })
}
