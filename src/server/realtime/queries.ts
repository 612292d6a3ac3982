import { Rejected } from '../../eventstore/engine/rejected.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../contract/parameters.ts'
import { type QueryName, queryNames } from '../../contract/realtime.ts'
import { type FeedPage, firstPages } from '../feed/first-pages.ts'
import { feedList } from '../feed/queries.ts'
import { invalid } from '../http/http-error.ts'
import { PAGE_BYTES } from '../http/list-page.ts'
import { idOfSlug, namespaceById } from '../namespace/queries.ts'
import type { Question } from './answer.ts'
import { findCaller, keyOfToken, topicsOfCaller } from './caller.ts'
import { keyOf, NOTHING, type QueryKind, queryKind } from './question.ts'
import type { RealtimeServices } from './services.ts'
import { trace, traceMessages } from './trace-queries.ts'

const limitOf = (given: number | undefined) => Math.min(given ?? DEFAULT_LIMIT, MAX_LIMIT)

const listOf = (page: FeedPage, limit: number) => feedList(page.entries, limit)

/** An estimate: most entries are shorter. */
const ENTRY_BYTES = 8 * 1024
const maxBytesOf = (limit: number) => Math.min(limit * ENTRY_BYTES, PAGE_BYTES)

/** FeedTrace[]: the newest public traces, the same for everybody. */
const publicTraces = queryKind('feed:getPublicTraces', (services, args) => {
  const limit = limitOf(args.limit)
  const { children = true } = args
  return {
    key: keyOf('feed:getPublicTraces', limit, children),
    maxBytes: async () => maxBytesOf(limit),
    ask: async () => {
      const { publicPage, publicRoots } = firstPages(services)
      const page = await (children ? publicPage : publicRoots)(Math.max(1, limit))
      return { value: listOf(page, limit), topics: [...page.topics] }
    },
  }
})

/** The id of the namespace with a slug; undefined if there is none, or the user is not a member of it. */
const idForMember = async (
  { reads }: Pick<RealtimeServices, 'reads'>,
  slug: string,
  userId: string,
): Promise<string | undefined> => {
  try {
    const { id, role } = await namespaceById(reads, idOfSlug(slug), userId)
    return role === undefined ? undefined : id
  } catch (error) {
    if (error instanceof Rejected) return undefined
    throw error
  }
}

/**
 * FeedTrace[]: the newest traces of the token's active namespace, or of another one of its user; null without a valid token, and for one of
 * which the user is not a member.
 */
const namespaceTraces = queryKind('feed:getNamespaceTraces', (services, args, token) => {
  const limit = limitOf(args.limit)
  const { children = true, namespace: slug } = args
  return {
    key: keyOf('feed:getNamespaceTraces', limit, children, slug, keyOfToken(token)),
    maxBytes: async () => maxBytesOf(limit),
    ask: async () => {
      const caller = await findCaller(services, token)
      if (!caller) return { value: NOTHING, topics: [] }
      const { namespace, expiresAt, userId } = caller
      const topics = topicsOfCaller(caller) // the beginning and the end of a membership have the topic of the user
      const id = slug === undefined ? namespace?.id : await idForMember(services, slug, userId)
      if (id === undefined) return { value: slug === undefined ? feedList([], 0) : NOTHING, topics, expiresAt }
      const { namespacePage, namespaceRoots } = firstPages(services)
      const page = await (children ? namespacePage : namespaceRoots)(id, Math.max(1, limit))
      return { value: listOf(page, limit), topics: [...topics, ...page.topics], expiresAt }
    },
  }
})

const kinds: { readonly [Name in QueryName]: QueryKind } = {
  'feed:getPublicTraces': publicTraces,
  'feed:getNamespaceTraces': namespaceTraces,
  'traces:get': trace,
  'traces:getMessages': traceMessages,
}

const isQuery = (name: string): name is QueryName => Object.hasOwn(kinds, name)

/**
 * The question for the query that a client names.
 * @throws HttpError invalid_request for an unknown query or invalid arguments
 */
export const questionOf = (
  services: RealtimeServices,
  name: string,
  args: Readonly<Record<string, unknown>>,
  token: string | undefined,
): Question => {
  if (!isQuery(name)) throw invalid('query', `must be one of ${queryNames.join(', ')}`)
  return kinds[name](services, args, token)
}
