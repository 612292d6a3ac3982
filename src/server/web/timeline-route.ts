import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { EntryType } from '../../contract/entry-types.ts'
import type { EntryList } from '../../contract/history.ts'
import { Cursor, DEFAULT_LIMIT, Key } from '../../contract/parameters.ts'
import type { HistoryServices } from '../history/services.ts'
import { timelineOfNamespace } from '../history/timeline-routes.ts'
import { requireCaller } from '../http/caller.ts'
import { idOfSlug, namespaceOfAdmin } from '../namespace/queries.ts'
import { sendPage } from '../pages/page.ts'
import { type TimelinePart, timelinePage, timelineParts } from '../pages/timeline.ts'

const people = ['MemberJoined', 'MemberRoleChanged', 'MemberRemoved', 'InviteCreated', 'InviteRevoked'] as const
const settings = ['NamespaceCreated', 'NamespaceUpdated', 'AvatarChanged', 'RetentionChanged'] as const
const deletions = ['TraceDeleted', 'HistoryErased'] as const

/** The types of the entries of each part. What people did to sessions, other than deleting them, is on the pages of these. */
const types: Readonly<Record<TimelinePart, readonly EntryType[]>> = {
  all: [...people, ...settings, ...deletions],
  people,
  settings,
  deletions,
}

const Params = z.object({ slug: Key })
/** Other parts, as in a mistyped address, count as none. */
const Query = z.object({ part: z.enum(timelineParts).optional().catch(undefined), cursor: Cursor.optional() })

type TimelineServices = HistoryServices & { readonly now: () => number }

/** `GET /@{slug}/-/timeline`: the timeline of a namespace, for its admins. */
export const timelinePageRoute = (app: FastifyInstance, services: TimelineServices): void => {
  app.get<{ Params: z.infer<typeof Params>; Querystring: z.infer<typeof Query> }>(
    '/@:slug/-/timeline',
    { config: { auth: 'required', htmlPage: true }, schema: { params: Params, querystring: Query } },
    async (request, reply) => {
      const caller = requireCaller(request)
      const { slug } = request.params
      const { part = 'all', cursor } = request.query
      const namespace = await namespaceOfAdmin(services.reads, idOfSlug(slug), caller)
      const query = { type: types[part], limit: DEFAULT_LIMIT, cursor }
      const { events, nextCursor } = JSON.parse(
        (await timelineOfNamespace(services, caller, slug, query)).join(''),
      ) as EntryList
      return sendPage(reply, timelinePage({ namespace, part, events, nextCursor, now: services.now() }))
    },
  )
}
