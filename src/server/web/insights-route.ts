import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Key } from '../../contract/parameters.ts'
import { dollarsText } from '../../base/usage-text.ts'
import { agentName } from '../../transcript/agent-names.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import { sessionsById } from '../feed/session-lists.ts'
import { requireCaller } from '../http/caller.ts'
import type { KnownModels } from '../models/registry.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import {
  type MarkedTrace,
  type NamedSums,
  type PeriodDays,
  insightsPage,
  periods,
  quartersText,
} from '../pages/insights.ts'
import { sendPage } from '../pages/page.ts'
import { readerZone } from './reader-zone.ts'
import { daysOf, periodOf } from '../usage/days.ts'
import { type KeyedSums, type NamespaceInsights, namespaceInsights } from '../usage/insights.ts'
import { displayNamesOf } from '../user/queries.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS: PeriodDays = 30

const Params = z.object({ slug: Key })
/** Other numbers of days, as in a mistyped address, count as none. */
const Query = z.object({
  days: z
    .enum(periods.map(String))
    .transform((text) => Number(text) as PeriodDays)
    .optional()
    .catch(undefined),
})

const named = <Row extends KeyedSums>(
  rows: readonly Row[],
  nameOf: (key: string) => string | undefined,
): (Omit<Row, 'key'> & Pick<NamedSums, 'name'>)[] =>
  rows.map(({ key, ...sums }) => ({ ...sums, name: key === undefined ? undefined : nameOf(key) }))

const modelNames =
  (models: KnownModels) =>
  (model: string): string =>
    models.find(model)?.modelName ?? model

type InsightsServices = FeedServices & { readonly now: () => number }

/** The sessions of a list that the reader may still read, each with what its margin says. */
const markedTraces = async (
  services: InsightsServices,
  namespaceId: string,
  member: string,
  { dearest, longest }: NamespaceInsights,
): Promise<{ readonly dearest: MarkedTrace[]; readonly longest: MarkedTrace[] }> => {
  const ids = [...new Set([...dearest, ...longest].map(({ id }) => id))]
  const traces = await sessionsById(services, { namespaceId, member, ids })
  const marked = (id: string, mark: string): MarkedTrace[] => {
    const trace = traces.get(id)
    return trace ? [{ trace, mark }] : []
  }
  return {
    dearest: dearest.flatMap(({ id, usd }) => marked(id, dollarsText(usd))),
    longest: longest.flatMap(({ id, quarters }) => marked(id, quartersText(quarters))),
  }
}

/** `GET /@{slug}/-/insights`: what the sessions of a namespace have used and cost, for its members. */
export const insightsPageRoute = (app: FastifyInstance, services: InsightsServices): void => {
  const { reads, models, now } = services
  app.get<{ Params: z.infer<typeof Params>; Querystring: z.infer<typeof Query> }>(
    '/@:slug/-/insights',
    { config: { auth: 'required', htmlPage: true }, schema: { params: Params, querystring: Query } },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      const { id: namespaceId, slug, role } = await namespaceOfMember(reads, idOfSlug(request.params.slug), userId)
      const { days: period = DEFAULT_DAYS } = request.query
      const timeZone = readerZone(request) ?? 'UTC'
      const at = now()
      const days = daysOf(periodOf(at - (period + 1) * DAY_MS, at), timeZone).slice(-period)
      const asked = {
        namespaceId,
        period: { from: days[0]!.from, to: periodOf(at, at + 1).to },
        days: days.map(({ from }) => from),
      }
      const known = await models.known()
      const seesAll = role === 'admin'
      const insights = await namespaceInsights(reads, known, asked, { userId, seesAll }, timeZone)
      const people = insights.authors.flatMap(({ key }) => key ?? [])
      const [names, marked] = await Promise.all([
        displayNamesOf(reads, people),
        markedTraces(services, namespaceId, userId, insights),
      ])
      return sendPage(
        reply,
        insightsPage({
          ...{ slug, role, period, timeZone, now: at, service: app.printedAddress() },
          dates: days.map(({ date }) => date),
          days: days.map((_, i) => insights.days.get(i)),
          total: insights.total,
          agents: named(insights.agents, agentName),
          models: named(insights.models, modelNames(known)),
          projects: named(insights.projects, (name) => name),
          authors: named(
            insights.authors,
            (id) => names.get(id) ?? (id === userId ? 'you' : `without a name (${id.slice(0, 8)})`),
          ),
          seesAllAuthors: seesAll,
          tools: named(insights.tools, (name) => name),
          hours: insights.hours,
          ...marked,
        }),
      )
    },
  )
}
