import type { ReadTables } from '../../projections/index.ts'
import type { Reads } from '../engine/reads.ts'
import type { ModelRegistry } from '../models/registry.ts'
import type { FeedCache } from './cache.ts'

/** What the routes of the feed need. */
export type FeedServices = {
  readonly reads: Reads<ReadTables>
  readonly feedCache: FeedCache
  /** The names of models. */
  readonly models: ModelRegistry
}
