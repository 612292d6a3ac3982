import { type FeedPage, firstPages } from '../feed/first-pages.ts'
import { feedList } from '../feed/queries.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../contract/parameters.ts'
import { PAGE_BYTES } from '../http/list-page.ts'
import { findCaller, keyOfToken, topicsOfCaller } from './caller.ts'
import { NOTHING, keyOf, queryKind } from './question.ts'

const limitOf = (given: number | undefined) => Math.min(given ?? DEFAULT_LIMIT, MAX_LIMIT)

const listOf = (page: FeedPage, limit: number) => feedList(page.entries, limit)

/** An estimate: most entries are shorter. */
const ENTRY_BYTES = 8 * 1024
const maxBytesOf = (limit: number) => Math.min(limit * ENTRY_BYTES, PAGE_BYTES)

/** FeedTrace[]: the newest public traces, the same for everybody. */
export const publicTraces = queryKind('feed:getPublicTraces', (services, args) => {
  const limit = limitOf(args.limit)
  return {
    key: keyOf('feed:getPublicTraces', limit),
    maxBytes: async () => maxBytesOf(limit),
    ask: async () => {
      const page = await firstPages(services).publicPage(Math.max(1, limit))
      return { value: listOf(page, limit), topics: [...page.topics] }
    },
  }
})

/** FeedTrace[]: the newest traces of the token's active namespace; null without a valid token. */
export const namespaceTraces = queryKind('feed:getNamespaceTraces', (services, args, token) => {
  const limit = limitOf(args.limit)
  return {
    key: keyOf('feed:getNamespaceTraces', limit, keyOfToken(token)),
    maxBytes: async () => maxBytesOf(limit),
    ask: async () => {
      const caller = await findCaller(services, token)
      if (!caller) return { value: NOTHING, topics: [] }
      const { namespace, expiresAt } = caller
      const topics = topicsOfCaller(caller)
      if (!namespace) return { value: feedList([], 0), topics, expiresAt }
      const page = await firstPages(services).namespacePage(namespace.id, Math.max(1, limit))
      return { value: listOf(page, limit), topics: [...topics, ...page.topics], expiresAt }
    },
  }
})
