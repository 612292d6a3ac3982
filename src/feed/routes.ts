import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { DEFAULT_LIMIT, Limit, limitOf } from '../http/keys.ts'
import { answers, okText } from '../http/reply.ts'
import type { Service } from '../service.ts'
import { afterOf } from '../trace/queries.ts'
import { FeedTrace } from '../trace/views.ts'
import { feedRows, feedText } from './queries.ts'

const Query = z.object({ limit: Limit.optional(), cursor: z.string().optional() })
const Feed = z.object({ traces: z.array(FeedTrace), isAuthenticated: z.boolean(), nextCursor: z.string().optional() })

const envelope = (data: string) => Buffer.from(`{"ok":true,"data":${data}}`)

/** The home feed (interface: Feed). The anonymous first page is answered from memory. */
export const feedRoutes = (app: FastifyInstance, { reads, feedCache }: Service): void => {
  const anonymous = (limit: number) =>
    feedCache.get(limit, async () => {
      const rows = await feedRows(reads, { namespaceId: undefined, limit: limit + 1, after: undefined })
      return { rows, body: envelope(feedText(rows, limit, false)) }
    })

  app.get<{ Querystring: z.infer<typeof Query> }>(
    '/v1/feed',
    {
      config: { auth: 'optional' },
      schema: {
        summary: "Public traces of everybody and, signed in, those of the session's namespace; newest first",
        tags: ['feed'],
        querystring: Query,
        response: answers(Feed, 400),
      },
    },
    async ({ caller, query }, reply) => {
      const limit = limitOf(query.limit) ?? DEFAULT_LIMIT
      if (!caller && query.cursor === undefined && limit > 0) {
        return reply.type('application/json; charset=utf-8').send(await anonymous(limit))
      }
      const after = afterOf(query.cursor)
      const rows =
        limit === 0 ? [] : await feedRows(reads, { namespaceId: caller?.namespace?.id, limit: limit + 1, after })
      return okText(reply, feedText(rows, limit, caller !== undefined))
    },
  )
}
