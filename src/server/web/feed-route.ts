import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { FeedTrace } from '../../contract/feed.ts'
import { DEFAULT_LIMIT } from '../../contract/parameters.ts'
import { type FeedServices, firstPages } from '../feed/first-pages.ts'
import { rootRows, shownEntries, toEntries } from '../feed/queries.ts'
import { type ListedTraces, type SessionList, sessionsOfNamespace } from '../feed/session-lists.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { addVary } from '../http/reply.ts'
import { addressFor } from '../http/origin.ts'
import type { HttpConfig } from '../http/settings.ts'
import { namespacesOf } from '../namespace/queries.ts'
import { type Scope, feedPage, homePage, scopes } from '../pages/feed.ts'
import { sendPage, wantsPage } from '../pages/page.ts'
import { afterOf } from '../trace/queries.ts'
import { type ListQuery, listLimit, listOf, listQuery } from './list-filter.ts'

type FeedPageServices = FeedServices & { readonly config: HttpConfig; readonly now: () => number }

/** An unknown scope, as in a mistyped address, counts as none. */
const Query = z.object({ scope: z.enum(scopes).optional().catch(undefined), ...listQuery })

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

  const publicPart = (request: FastifyRequest<{ Querystring: ListQuery }>, params = {}) =>
    listOf(service, {
      request,
      path: '/',
      params,
      live: { of: 'public' },
      list: { only: { of: 'everybody' } },
      whole: publicList,
      now: now(),
    })

  const ownPart = (
    request: FastifyRequest<{ Querystring: ListQuery }>,
    scope: Scope,
    id: string,
    which: ListedTraces,
  ) =>
    listOf(service, {
      ...{ request, path: '/', params: scope === 'own' ? {} : { scope }, now: now() },
      live: { of: 'members', author: which.kind === 'authored' ? which.member : undefined },
      list: { sorted: (sort) => ({ of: 'namespace', id, which, sort }) },
      whole: (cursor) => sessionsOfNamespace(service, { namespaceId: id, which, limit: DEFAULT_LIMIT, cursor }),
    })

  const ownPage = async (request: FastifyRequest<{ Querystring: ListQuery }>, caller: Caller, scope: Scope) => {
    const { userId, namespace } = caller
    const shown = namespace ? scope : 'public'
    const which: ListedTraces = { kind: shown === 'mine' ? 'authored' : 'all', member: userId }
    const [{ list, filter }, namespaces] = await Promise.all([
      namespace && shown !== 'public'
        ? ownPart(request, shown, namespace.id, which)
        : publicPart(request, { scope: 'public' }),
      namespacesOf(reads, userId),
    ])
    const active = namespaces.find(({ id }) => id === namespace?.id)
    return feedPage({
      list,
      filter,
      scope: shown,
      active,
      namespaces,
      now: now(),
      service: app.printedAddress(),
    })
  }

  app.get<{ Querystring: z.infer<typeof Query> }>(
    '/',
    { config: { auth: 'optional', htmlPage: true, anonymousLimit: listLimit }, schema: { querystring: Query } },
    async (request, reply) => {
      if (!wantsPage(request)) throw notFound()
      addVary(reply, 'accept')
      const { scope = 'own' } = request.query
      const page = request.caller
        ? await ownPage(request, request.caller, scope)
        : homePage({
            ...(await publicPart(request)),
            now: now(),
            service: app.printedAddress(),
            origin: addressFor(config, request),
          })
      return sendPage(reply, page)
    },
  )
}
