import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { traceId } from '../../base/ids.ts'
import { Cursor, DEFAULT_LIMIT, Key } from '../../contract/parameters.ts'
import { listCommits } from '../commit/queries.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import { sessionsById } from '../feed/session-lists.ts'
import { requireCaller } from '../http/caller.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import { commitsPage } from '../pages/commits.ts'
import { sendPage } from '../pages/page.ts'

const Params = z.object({ slug: Key })
const Query = z.object({ trace: Key.optional(), cursor: Cursor.optional() })

type CommitsServices = FeedServices & { readonly now: () => number }

/** `GET /@{slug}/-/commits`: the recorded commits of a namespace, for its members. */
export const commitsPageRoute = (app: FastifyInstance, services: CommitsServices): void => {
  const { reads, now } = services
  app.get<{ Params: z.infer<typeof Params>; Querystring: z.infer<typeof Query> }>(
    '/@:slug/-/commits',
    { config: { auth: 'required', htmlPage: true }, schema: { params: Params, querystring: Query } },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      const namespace = await namespaceOfMember(reads, idOfSlug(request.params.slug), userId)
      const { trace, cursor } = request.query
      const filter = {
        namespaceId: namespace.id,
        traceId: trace === undefined ? undefined : traceId(namespace.id, trace),
      }
      const { commits, nextCursor } = await listCommits(reads, filter, { limit: DEFAULT_LIMIT, cursor })
      const ids = [...new Set(commits.flatMap(({ traces }) => traces.map((one) => one.trace.id)))]
      const sessions = await sessionsById(services, { namespaceId: namespace.id, member: userId, ids })
      return sendPage(reply, commitsPage({ namespace, commits, nextCursor, sessions, trace, now: now() }))
    },
  )
}
