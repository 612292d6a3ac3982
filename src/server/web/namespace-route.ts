import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Cursor, DEFAULT_LIMIT, Key } from '../../contract/parameters.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import { sessionsOfNamespace } from '../feed/session-lists.ts'
import { idOfSlug, namespaceById } from '../namespace/queries.ts'
import { namespacePage } from '../pages/namespace.ts'
import { sendPage } from '../pages/page.ts'

const Params = z.object({ slug: Key })
const Query = z.object({ cursor: Cursor.optional(), saved: z.literal('left').optional().catch(undefined) })

/** `GET /@{slug}`: a namespace and those of its traces that the viewer may read. */
export const namespacePageRoute = (
  app: FastifyInstance,
  service: FeedServices & { readonly now: () => number },
): void => {
  app.get<{ Params: z.infer<typeof Params>; Querystring: z.infer<typeof Query> }>(
    '/@:slug',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: Params, querystring: Query } },
    async ({ caller, params, query: { cursor, saved } }, reply) => {
      const namespace = await namespaceById(service.reads, idOfSlug(params.slug), caller?.userId)
      const list = await sessionsOfNamespace(service, {
        namespaceId: namespace.id,
        which: caller && namespace.role !== undefined ? { kind: 'all', member: caller.userId } : { kind: 'public' },
        limit: DEFAULT_LIMIT,
        cursor,
      })
      const hasLeft = saved !== undefined && caller !== undefined && namespace.role === undefined
      return sendPage(
        reply,
        namespacePage({ namespace, list, hasLeft, now: service.now(), service: app.printedAddress() }),
      )
    },
  )
}
