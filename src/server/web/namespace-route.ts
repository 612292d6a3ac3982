import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { DEFAULT_LIMIT, Key } from '../../contract/parameters.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import { type ListedTraces, sessionsOfNamespace } from '../feed/session-lists.ts'
import { peopleOfWeek } from '../feed/week.ts'
import { idOfSlug, namespaceById } from '../namespace/queries.ts'
import { namespacePath } from '../pages/links.ts'
import { namespacePage } from '../pages/namespace.ts'
import { sendPage } from '../pages/page.ts'
import { joined, typed } from '../search/query.ts'
import { listLimit, listOf, listQuery } from './list-filter.ts'

const Params = z.object({ slug: Key })
const Query = z.object({ ...listQuery, saved: z.literal('left').optional().catch(undefined) })

/** `GET /@{slug}`: a namespace and those of its traces that the viewer may read. */
export const namespacePageRoute = (
  app: FastifyInstance,
  service: FeedServices & { readonly now: () => number },
): void => {
  app.get<{ Params: z.infer<typeof Params>; Querystring: z.infer<typeof Query> }>(
    '/@:slug',
    {
      config: { auth: 'optional', htmlPage: true, anonymousLimit: listLimit },
      schema: { params: Params, querystring: Query },
    },
    async (request, reply) => {
      const { caller, params, query } = request
      const namespace = await namespaceById(service.reads, idOfSlug(params.slug), caller?.userId)
      const { id, slug, role } = namespace
      const now = service.now()
      const member = role === undefined ? undefined : caller?.userId
      const which: ListedTraces = member === undefined ? { kind: 'public' } : { kind: 'all', member }
      const [{ list, filter }, week] = await Promise.all([
        listOf(service, {
          ...{ request, path: namespacePath(slug), now },
          live: { of: member === undefined ? 'public' : 'members', slug },
          list: { sorted: (sort) => ({ of: 'namespace', id, which, sort }) },
          whole: (cursor) => sessionsOfNamespace(service, { namespaceId: id, which, limit: DEFAULT_LIMIT, cursor }),
        }),
        member === undefined ? [] : peopleOfWeek(service.reads, { namespaceId: id, member, now }),
      ])
      const hasLeft = query.saved !== undefined && caller !== undefined && role === undefined
      return sendPage(
        reply,
        namespacePage({
          ...{ namespace, list, filter, hasLeft, now, service: app.printedAddress() },
          week: week.map(({ id, name, count }) => ({
            ...{ label: name ?? id.slice(0, 8), count },
            q: joined(typed('author', name ?? id) ?? `author:${id}`, 'since:7d'),
          })),
        }),
      )
    },
  )
}
