import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { flag, nextCursor } from '../contract/fields.ts'
import { DEFAULT_LIMIT, LimitText, limitOf } from '../contract/parameters.ts'
import { JSON_TYPE, answers, okTexts } from '../http/reply.ts'
import { firstPages } from './first-pages.ts'
import type { FeedServices } from './services.ts'
import { type After, afterOf } from '../trace/queries.ts'
import { FeedTrace } from '../trace/views.ts'
import { type FeedSource, feedRows, feedTexts, mergeEntries, toEntry } from './queries.ts'

const Query = z.object({ limit: LimitText.optional(), cursor: z.string().optional() })
const Feed = z.object({
  traces: z.array(FeedTrace).meta({ description: 'The traces of this page' }),
  isAuthenticated: flag('Whether the caller is signed in'),
  nextCursor,
})

/** The route of the feed. First pages are cached: the public one, and one for each namespace; a session gets both merged. */
export const feedRoutes = (app: FastifyInstance, service: FeedServices): void => {
  const { reads } = service
  const { publicPage, namespacePage } = firstPages(service)

  const firstPage = async (namespaceId: string | undefined, limit: number) => {
    if (namespaceId === undefined) return (await publicPage(limit)).entries
    const [own, others] = await Promise.all([namespacePage(namespaceId, limit), publicPage(limit)])
    return mergeEntries(own.entries, others.entries, limit + 1)
  }

  const laterPage = async (namespaceId: string | undefined, limit: number, after: After) => {
    const source: FeedSource = namespaceId === undefined ? 'public' : { namespaceId, withPublic: true }
    return (await feedRows(reads, { source, limit: limit + 1, after })).map((row) => toEntry(row, service))
  }

  app.get<{ Querystring: z.infer<typeof Query> }>(
    '/v1/feed',
    {
      config: { auth: 'optional' },
      schema: {
        summary: "Public traces of everybody and, signed in, those of the session's namespace; newest first",
        description:
          '50 a page if `limit` does not say otherwise, and at most 8 MiB. Errors: `invalid_request` (400) for a ' +
          '`limit` or `cursor` that is none.',
        tags: ['feed'],
        querystring: Query,
        response: answers(Feed),
      },
    },
    async ({ caller, query }, reply) => {
      const limit = limitOf(query.limit) ?? DEFAULT_LIMIT
      const after = afterOf(query.cursor)
      if (limit === 0) return okTexts(reply, feedTexts([], 0, caller !== undefined))
      const page = caller || after ? undefined : await publicPage(limit)
      if (page?.body) return reply.type(JSON_TYPE).send(page.body)
      const namespaceId = caller?.namespace?.id
      const entries =
        page?.entries ?? (await (after ? laterPage(namespaceId, limit, after) : firstPage(namespaceId, limit)))
      return okTexts(reply, feedTexts(entries, limit, caller !== undefined))
    },
  )
}
