import type { FeedPage } from './pages.ts'
import { LARGE_BYTES } from '../http/large-answers.ts'
import { type FeedEntry, feedRows, feedTexts, toEntry } from './queries.ts'
import type { FeedServices } from './services.ts'

/** The answer to a request without a session, unless it is large: then it is sent in parts, from the entries. */
const wholeAnswer = (entries: readonly FeedEntry[], limit: number): { body?: Buffer } =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0) < LARGE_BYTES
    ? { body: Buffer.from(`{"ok":true,"data":${feedTexts(entries, limit, false).join('')}}`) }
    : {}

/**
 * The first pages of feeds, from the cache if they are there. They have one entry more than `limit`, to show that there are
 * others.
 */
export const firstPages = (services: FeedServices) => {
  const { reads, feedCache } = services
  return {
    publicPage: (limit: number): Promise<FeedPage> | FeedPage =>
      feedCache.get({ limit }, async () => {
        const rows = await feedRows(reads, { source: 'public', limit: limit + 1, after: undefined })
        const entries = rows.map((row) => toEntry(row, services))
        return { rows, entries, ...wholeAnswer(entries, limit) }
      }),

    namespacePage: (namespaceId: string, limit: number): Promise<FeedPage> | FeedPage =>
      feedCache.get({ limit, namespaceId }, async () => {
        const source = { namespaceId, withPublic: false }
        const rows = await feedRows(reads, { source, limit: limit + 1, after: undefined })
        return { rows, entries: rows.map((row) => toEntry(row, services)) }
      }),
  }
}
