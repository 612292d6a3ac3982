import type { FeedCache } from './cache.ts'
import type { FeedSources } from './queries.ts'

/** What the routes of the feed need. */
export type FeedServices = FeedSources & { readonly feedCache: FeedCache }
