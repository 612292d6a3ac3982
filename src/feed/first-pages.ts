import type { FeedPage } from './pages.ts'
import { feedRows, feedText, toEntry } from './queries.ts'
import type { FeedServices } from './services.ts'

const envelope = (data: string) => Buffer.from(`{"ok":true,"data":${data}}`)

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
        return { rows, entries, body: envelope(feedText(entries, limit, false)) }
      }),

    namespacePage: (namespaceId: string, limit: number): Promise<FeedPage> | FeedPage =>
      feedCache.get({ limit, namespaceId }, async () => {
        const source = { namespaceId, withPublic: false }
        const rows = await feedRows(reads, { source, limit: limit + 1, after: undefined })
        return { rows, entries: rows.map((row) => toEntry(row, services)) }
      }),
  }
}
