import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Cursor, DEFAULT_LIMIT } from '../../contract/parameters.ts'
import { listedTitleOf, readTrace } from '../../transcript/head.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import { subAgentsOf } from '../feed/session-lists.ts'
import { sendPage } from '../pages/page.ts'
import { subAgentsPage } from '../pages/sub-agents.ts'
import { locateToRead } from '../trace/locate.ts'
import { shownRow } from '../trace/model-names.ts'
import { detailText } from '../trace/views.ts'
import { TraceParams } from './trace-params.ts'

const Query = z.object({ cursor: Cursor.optional() })

/** `GET /@{slug}/{externalId}/-/sub-agents`: the sub-agents of a session that the viewer may read. */
export const subAgentsPageRoute = (
  app: FastifyInstance,
  service: FeedServices & { readonly now: () => number },
): void => {
  const { reads, models, now } = service
  app.get<{ Params: TraceParams; Querystring: z.infer<typeof Query> }>(
    '/@:slug/:externalId/-/sub-agents',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams, querystring: Query } },
    async ({ caller, params, query: { cursor } }, reply) => {
      const { slug, externalId } = params
      const { trace, role } = await locateToRead(reads, { externalId, namespace: slug }, caller)
      const member = role === undefined ? undefined : caller?.userId
      const list = await subAgentsOf(service, trace, { member, limit: DEFAULT_LIMIT, cursor })
      const title = listedTitleOf(readTrace(detailText(shownRow(await models.known(), trace))))
      return sendPage(reply, subAgentsPage({ slug: trace.slug ?? slug, externalId, title, list, now: now() }))
    },
  )
}
