import type { FastifyInstance } from 'fastify'
import { feed } from '../../contract/feed.ts'
import { DEFAULT_LIMIT } from '../../contract/parameters.ts'
import type { Caller } from '../http/caller.ts'
import { JSON_TYPE } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { type FeedServices, firstPages } from './first-pages.ts'
import { type After, afterOf } from '../trace/queries.ts'
import { type FeedSource, feedRows, feedTexts, mergeEntries, rootRows, toEntries } from './queries.ts'

/** The route of the feed. First pages are cached: the public one, and one for each namespace. A caller gets both merged. */
export const feedRoutes = (app: FastifyInstance, service: FeedServices): void => {
  const { reads } = service
  const { publicPage, publicRoots, namespacePage, cachedBody } = firstPages(service)

  const firstPage = async (namespaceId: string | undefined, limit: number) => {
    if (namespaceId === undefined) return (await publicPage(limit)).entries
    const [own, others] = await Promise.all([namespacePage(namespaceId, limit), publicPage(limit)])
    return mergeEntries(own.entries, others.entries, limit + 1)
  }

  const laterPage = async (namespaceId: string | undefined, limit: number, after: After) => {
    const source: FeedSource = namespaceId === undefined ? 'public' : { namespaceId, withPublic: true }
    return toEntries(await feedRows(reads, { source, limit: limit + 1, after }), service)
  }

  const pageFor = async (caller: Caller | undefined, limit: number, after: After | undefined) => {
    const namespaceId = caller?.namespace?.id
    const entries = await (after ? laterPage(namespaceId, limit, after) : firstPage(namespaceId, limit))
    return feedTexts(entries, limit, caller !== undefined)
  }

  const rootsFor = async (caller: Caller | undefined, limit: number, after: After | undefined) => {
    const isAuthenticated = caller !== undefined
    if (!caller?.namespace && !after) return feedTexts((await publicRoots(limit)).entries, limit, isAuthenticated)
    const source = caller?.namespace ? { userId: caller.userId, namespaceId: caller.namespace.id } : 'public'
    const rows = await rootRows(reads, { source, limit: limit + 1, after })
    return feedTexts(await toEntries(rows, service), limit, isAuthenticated)
  }

  route(app, feed, 'GET /v1/feed', ({ caller, query }, reply) => {
    const { limit = DEFAULT_LIMIT } = query
    const after = afterOf(query.cursor)
    if (limit === 0) return feedTexts([], 0, caller !== undefined)
    if (query.children === false) return rootsFor(caller, limit, after)
    const body = caller || after ? undefined : cachedBody(limit)
    return body ? reply.type(JSON_TYPE).send(body) : pageFor(caller, limit, after)
  })
}
