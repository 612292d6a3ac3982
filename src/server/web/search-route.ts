import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Facet, type FacetName, type SearchAnswer, search as api } from '../../contract/search.ts'
import { parentsOf } from '../feed/session-lists.ts'
import { addVary } from '../http/reply.ts'
import { sendPage } from '../pages/page.ts'
import { hasDays } from '../pages/query-notes.ts'
import { documentHeaders } from '../pages/headers.ts'
import { type Narrower, type OtherSearch, searchPage, typedHits } from '../pages/search.ts'
import { offersFor } from '../search/offers.ts'
import { fieldsIn, joined, typed } from '../search/query.ts'
import { readerZone } from './reader-zone.ts'
import { type SearchServices, search } from '../search/search.ts'
import { fragmentHeaders } from './trace-sending.ts'
import { agentName } from '../../transcript/agent-names.ts'

const { q, sort, cursor } = api['GET /v1/search'].query
const Query = z.object({ q, sort, cursor })
const TypedQuery = z.object({ q })

/** How many sessions are listed while a reader types. */
const MOST_TYPED = 6

/** The fields by which results can be narrowed, with their titles on the page. */
const FACETS: Readonly<Partial<Record<FacetName, string>>> = {
  agent: 'Agent',
  tool: 'Tool',
  author: 'Author',
  project: 'Project',
  namespace: 'Namespace',
}
const names = Object.keys(FACETS) as FacetName[]
/** The most values of a field that the page shows. */
const MOST_VALUES = 8

const suggestionsFor = (text: string, isSignedIn: boolean): OtherSearch[] => {
  const used = fieldsIn(text).map(({ word }) => word.slice(0, word.indexOf(':') + 1))
  const all = [
    ['has:error', 'has:error'],
    ['in:prompt', 'in:prompt'],
    ['in:output', 'in:output'],
    ...(isSignedIn ? [['is:public', 'is:public']] : []),
    ['last 30 days', 'since:30d'],
  ] as const
  return all
    .filter(([, word]) => !used.some((field) => word!.startsWith(field)))
    .map(([label, word]) => ({ label: label!, q: joined(text, word!) }))
}

/** The label of a facet's value; undefined for a user without a name. */
const labelOf = (field: FacetName, { value, name }: Facet): string | undefined => {
  if (field === 'agent') return agentName(value)
  if (field === 'namespace') return `@${value}`
  return field === 'author' ? name : value
}

const narrowerIn = (field: FacetName, text: string, answer: SearchAnswer): Narrower[] => {
  const values = answer.facets?.[field] ?? []
  const found = values.flatMap((one) => {
    const [label, word] = [labelOf(field, one), typed(field, one.value)]
    return label === undefined || word === undefined ? [] : [{ label, count: one.count, q: joined(text, word) }]
  })
  return found.some(({ count }) => count < answer.total.value) ? found.slice(0, MOST_VALUES) : []
}

/** `GET /search/hits`: the first results, for the script of every page while its reader types. */
const hitsRoute = (app: FastifyInstance, services: SearchServices): void => {
  app.get<{ Querystring: z.infer<typeof TypedQuery> }>(
    '/search/hits',
    { config: { auth: 'optional', anonymousLimit: 'search' }, schema: { querystring: TypedQuery } },
    async (request, reply) => {
      const { caller, query } = request
      const answer = await search(services, { q: query.q, tz: readerZone(request), limit: MOST_TYPED }, caller)
      return reply.headers({ ...documentHeaders, ...fragmentHeaders }).send(typedHits(answer).source)
    },
  )
}

/** `GET /search`: the results for the viewer. No query is invalid: any text that is not a field is searched for as words. */
export const searchPageRoute = (app: FastifyInstance, services: SearchServices): void => {
  const pageFor = async (request: FastifyRequest<{ Querystring: z.infer<typeof Query> }>) => {
    const { caller, query } = request
    const text = (query.q ?? '').trim()
    const { sort = 'relevance', cursor } = query
    const zone = hasDays(text) ? (readerZone(request) ?? 'UTC') : undefined
    const isEmpty = text === '' && cursor === undefined
    const answer = isEmpty
      ? undefined
      : await search(services, { q: text, tz: zone, sort, cursor, facets: names }, caller)
    const hasNothing = answer?.results.length === 0 && cursor === undefined
    const now = services.now()
    const found = (answer?.results ?? []).map(({ trace }) => trace)
    return searchPage({
      parents: await parentsOf(services, found, caller?.userId),
      q: text,
      sort,
      zone,
      answer,
      offers: hasNothing ? await offersFor(services, { q: text, tz: zone }, caller) : [],
      fields: fieldsIn(text).map(({ word, rest }) => ({ label: word, q: rest })),
      suggestions: isEmpty ? [] : suggestionsFor(text, caller !== undefined),
      narrower: names.flatMap((field) => {
        const values = answer ? narrowerIn(field, text, answer) : []
        return values.length === 0 ? [] : [{ name: FACETS[field]!, values }]
      }),
      now,
    })
  }
  app.get<{ Querystring: z.infer<typeof Query> }>(
    '/search',
    { config: { auth: 'optional', htmlPage: true, anonymousLimit: 'search' }, schema: { querystring: Query } },
    async (request, reply) => {
      addVary(reply, 'accept')
      return sendPage(reply, await pageFor(request))
    },
  )
  hitsRoute(app, services)
}
