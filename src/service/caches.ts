import type { ReadTables } from '../../projections/index.ts'
import { effectOf } from '../effects.ts'
import type { Happened } from '../engine/projection.ts'
import type { Reads } from '../engine/reads.ts'
import { newFeedCache } from '../feed/cache.ts'
import { newStreams } from '../http/stream.ts'
import { newModelRegistry } from '../models/registry.ts'
import { newLiveQueries } from '../realtime/live-queries.ts'
import type { Metrics } from '../metrics.ts'
import { newTokens } from '../session/tokens.ts'

export type CachesOptions = {
  readonly reads: Reads<ReadTables>
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** False while this node hears nothing of the log: then nothing is answered from memory. */
  readonly isAlive: () => boolean
  /** The last position that this node has heard of. */
  readonly heard: () => bigint
  /** How far the read models have come. */
  readonly shown: () => bigint
  /** Resolves when they have come to a position. @throws Unavailable */
  readonly caughtUp: (position: bigint) => Promise<void>
  readonly metrics: Metrics
}

/** What this node keeps of the read models in memory, and the long answers that are being read from it. */
export const newCaches = ({ reads, now, isAlive, heard, shown, caughtUp, metrics }: CachesOptions) => {
  const tokens = newTokens({ reads, now, isAlive })
  const feedCache = newFeedCache(isAlive)
  const streams = newStreams({ now, isAlive })
  const live = newLiveQueries({
    shown,
    heard,
    caughtUp,
    isAlive,
    observe: (ms, coalesced) => {
      metrics.realtimeLag.observe(ms / 1_000)
      metrics.realtimeCoalesced.inc(coalesced)
    },
  })
  const renamed = () => {
    feedCache.clear()
    live.clear()
  }
  const models = newModelRegistry(reads, () => caughtUp(heard()), renamed)
  const all = [tokens, feedCache, streams, live]
  return {
    tokens,
    feedCache,
    streams,
    live,
    models,
    /** Called for every event before its write is answered. @throws for one that this version does not know */
    observe: (event: Happened) => {
      const seen = { position: event.position, ...effectOf(event) }
      for (const cache of all) cache.observe(seen)
      models.observe(event)
    },
    /** Drops everything: something has happened that this node does not understand. */
    forget: () => {
      for (const cache of [...all, models]) cache.clear()
    },
    /** The same for a log in another epoch, where positions begin anew. */
    restart: () => {
      for (const cache of all) cache.restart()
    },
  }
}

export type Caches = ReturnType<typeof newCaches>
