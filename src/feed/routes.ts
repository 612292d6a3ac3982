import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { flag, nextCursor } from '../http/fields.ts'
import { DEFAULT_LIMIT, Limit, limitOf } from '../http/keys.ts'
import { JSON_TYPE, answers, okText } from '../http/reply.ts'
import type { Service } from '../service.ts'
import { type After, afterOf } from '../trace/queries.ts'
import { FeedTrace } from '../trace/views.ts'
import { type FeedSource, feedRows, feedText, mergeEntries, toEntry } from './queries.ts'

const Query = z.object({ limit: Limit.optional(), cursor: z.string().optional() })
const Feed = z.object({
  traces: z.array(FeedTrace).meta({ description: 'The traces of this page' }),
  isAuthenticated: flag('Whether the caller is signed in'),
  nextCursor,
})

const envelope = (data: string) => Buffer.from(`{"ok":true,"data":${data}}`)

/** The home feed. First pages are kept in memory; a session's own traces are merged into the public. */
export const feedRoutes = (app: FastifyInstance, service: Service): void => {
  const { reads, feedCache } = service
  const publicPage = (limit: number) =>
    feedCache.get({ limit }, async () => {
      const rows = await feedRows(reads, { source: 'public', limit: limit + 1, after: undefined })
      const entries = rows.map((row) => toEntry(row, service))
      return { rows, entries, body: envelope(feedText(entries, limit, false)) }
    })

  const namespacePage = (namespaceId: string, limit: number) =>
    feedCache.get({ limit, namespaceId }, async () => {
      const source = { namespaceId, withPublic: false }
      const rows = await feedRows(reads, { source, limit: limit + 1, after: undefined })
      return { rows, entries: rows.map((row) => toEntry(row, service)) }
    })

  const firstPage = async (namespaceId: string | undefined, limit: number) => {
    if (namespaceId === undefined) return (await publicPage(limit)).entries
    const [own, everybodys] = await Promise.all([namespacePage(namespaceId, limit), publicPage(limit)])
    return mergeEntries(own.entries, everybodys.entries, limit + 1)
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
      if (limit === 0) return okText(reply, feedText([], 0, caller !== undefined))
      if (!caller && !after) return reply.type(JSON_TYPE).send((await publicPage(limit)).body)
      const namespaceId = caller?.namespace?.id
      const entries = await (after ? laterPage(namespaceId, limit, after) : firstPage(namespaceId, limit))
      return okText(reply, feedText(entries, limit, caller !== undefined))
    },
  )
}
