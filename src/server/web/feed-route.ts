import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { FeedTrace } from '../../contract/feed.ts'
import { Cursor, DEFAULT_LIMIT } from '../../contract/parameters.ts'
import { type FeedServices, firstPages } from '../feed/first-pages.ts'
import { rootRows, shownEntries, toEntries } from '../feed/queries.ts'
import { type SessionList, sessionsOfNamespace } from '../feed/session-lists.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { addVary } from '../http/reply.ts'
import { addressFor } from '../http/origin.ts'
import type { HttpConfig } from '../http/settings.ts'
import { namespacesOf } from '../namespace/queries.ts'
import { type Scope, feedPage, homePage, scopes } from '../pages/feed.ts'
import { sendPage, wantsPage } from '../pages/page.ts'
import { afterOf } from '../trace/queries.ts'

type FeedPageServices = FeedServices & { readonly config: HttpConfig; readonly now: () => number }

/** An unknown scope, as in a mistyped address, counts as none. */
const Query = z.object({ scope: z.enum(scopes).optional().catch(undefined), cursor: Cursor.optional() })

/** `GET /`: the sessions that the viewer may read, as a page for a browser. Any other client gets 404. */
export const feedPageRoute = (app: FastifyInstance, service: FeedPageServices): void => {
  const { reads, config, now } = service
  const { publicRoots } = firstPages(service)

  const publicList = async (cursor: string | undefined): Promise<SessionList> => {
    const after = afterOf(cursor)
    const entries = after
      ? await toEntries(await rootRows(reads, { source: 'public', limit: DEFAULT_LIMIT + 1, after }), service)
      : (await publicRoots(DEFAULT_LIMIT)).entries
    const { texts, nextCursor } = shownEntries(entries, DEFAULT_LIMIT)
    return { traces: texts.map((text) => JSON.parse(text) as FeedTrace), nextCursor }
  }

  const ownPage = async ({ userId, namespace }: Caller, scope: Scope, cursor: string | undefined) => {
    const shown = namespace ? scope : 'public'
    const listed =
      namespace && shown !== 'public'
        ? sessionsOfNamespace(service, {
            namespaceId: namespace.id,
            which: { kind: shown === 'mine' ? 'authored' : 'all', member: userId },
            limit: DEFAULT_LIMIT,
            cursor,
          })
        : publicList(cursor)
    const [list, namespaces] = await Promise.all([listed, namespacesOf(reads, userId)])
    const active = namespaces.find(({ id }) => id === namespace?.id)
    return feedPage({ list, scope: shown, userId, active, namespaces, now: now(), service: app.printedAddress() })
  }

  app.get<{ Querystring: z.infer<typeof Query> }>(
    '/',
    { config: { auth: 'optional', htmlPage: true }, schema: { querystring: Query } },
    async (request, reply) => {
      if (!wantsPage(request)) throw notFound()
      addVary(reply, 'accept')
      const { scope = 'own', cursor } = request.query
      const page = request.caller
        ? await ownPage(request.caller, scope, cursor)
        : homePage({
            list: await publicList(cursor),
            now: now(),
            service: app.printedAddress(),
            origin: addressFor(config, request),
          })
      return sendPage(reply, page)
    },
  )
}
