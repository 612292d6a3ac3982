import type { ReadTables } from '../../tables/main.ts'
import { newWakeup, REQUEST_WAIT_MS } from '../../base/waits.ts'
import { effectOf, repeated } from '../effects.ts'
import { subscribeCaches } from '../../eventstore/engine/cache-subscription.ts'
import type { DecodedEvent } from '../../eventstore/engine/projection.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { newPublicFiles } from '../export/public-files.ts'
import { newFeedCache } from '../feed/first-pages.ts'
import { newPastMemo } from '../history/past-memo.ts'
import { newLongLists } from '../http/long-lists.ts'
import type { Metrics } from '../http/metrics.ts'
import type { NodePermits } from '../http/node-permits.ts'
import { newModelRegistry } from '../models/registry.ts'
import { newLiveQueries } from '../realtime/live-queries.ts'
import { newTokens } from '../session/tokens.ts'
import { newPeople } from '../web/people.ts'
import { newPublicPages } from '../web/public-pages.ts'
import { waitDuringStart } from './log.ts'
import type { Stores } from './stores.ts'
import { newTransactors } from './transactors.ts'

type CachesOptions = {
  readonly reads: Reads<ReadTables>
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** False while the caches may have missed events: then no answer comes from memory. */
  readonly isCurrent: () => boolean
  /** The last position that this node's caches have observed. */
  readonly lastSeen: () => bigint
  /** The position of the watermark of the read models. */
  readonly readModelsPosition: () => bigint
  /** Resolves when the read models have applied a position. @throws Unavailable */
  readonly caughtUp: (position: bigint) => Promise<void>
  readonly untilShown: (() => Promise<void>) | undefined
  readonly metrics: Metrics
  readonly permits: NodePermits
}

/** Everything on this node that events can make stale. */
const newCaches = ({
  reads,
  now,
  isCurrent,
  lastSeen,
  readModelsPosition,
  caughtUp,
  untilShown,
  metrics,
  permits,
}: CachesOptions) => {
  const tokens = newTokens({ reads, now, isCurrent, untilShown })
  const feedCache = newFeedCache(isCurrent)
  const publicFiles = newPublicFiles(isCurrent)
  const publicPages = newPublicPages(isCurrent)
  const people = newPeople(isCurrent)
  const longLists = newLongLists({ now, permits })
  const live = newLiveQueries({
    readModelsPosition,
    lastSeen,
    caughtUp,
    isCurrent,
    permits,
    observe: (ms, coalesced) => {
      metrics.realtimeLag.observe(ms / 1_000)
      metrics.realtimeCoalesced.inc(coalesced)
    },
  })
  const onModelsChanged = () => {
    feedCache.clear()
    publicPages.clear()
    live.clear(lastSeen())
  }
  const models = newModelRegistry(reads, () => caughtUp(lastSeen()), onModelsChanged)
  const memo = newPastMemo()
  const all = [tokens, feedCache, publicFiles, publicPages, people, live]
  return {
    tokens,
    feedCache,
    publicFiles,
    publicPages,
    people,
    longLists,
    live,
    models,
    memo,
    /** Called for every event before its write is answered. @throws for an event type that this version does not know */
    observe: (event: DecodedEvent) => {
      const effect = { position: event.position, ...effectOf(event) }
      for (const cache of all) cache.observe(effect)
      for (const cache of [models, memo]) cache.observe(event)
    },
    /** Drops everything. Called when events up to `position` may have been missed. */
    clear: (position: bigint) => {
      for (const cache of [...all, models, memo]) cache.clear(position)
    },
  }
}

/**
 * The memory of this node: the transactors with the states of streams, and the caches. A subscription to the log keeps both
 * current; while it cannot, no answer comes from memory.
 */
export const openMemory = async (stores: Stores, permits: NodePermits, now: () => number) => {
  const { metrics, log, codec, over, outage, lastSeen, groups, standby, reads } = stores
  const { watermark, quarantine } = groups.main
  const isCurrent = () => !over.aborted && subscription.isCurrent()
  const caches = newCaches({
    reads,
    now,
    isCurrent,
    lastSeen: lastSeen.position,
    readModelsPosition: watermark.position,
    caughtUp: (position) => watermark.waitFor(position, REQUEST_WAIT_MS),
    untilShown: standby && (async () => watermark.waitFor(await log.head(), REQUEST_WAIT_MS, false)),
    metrics,
    permits,
  })
  const transactors = newTransactors({
    reads,
    caughtUp: (position) => watermark.waitFor(position, REQUEST_WAIT_MS, false),
    log,
    codec,
    now,
    isCurrent,
    watermark,
    assertNotQuarantined: quarantine.assertNotQuarantined,
  })
  const clear = (position: bigint) => {
    transactors.clear()
    caches.clear(position)
  }
  quarantine.onChange(() => clear(lastSeen.position()))
  log.onChange(lastSeen.end)

  const retentionWakeup = newWakeup()
  const subscription = subscribeCaches({
    log,
    codec,
    watermark: lastSeen,
    readModelsWatermark: watermark,
    lags: groups.all.map(({ lag }) => lag),
    outage,
    observe: (event) => {
      transactors.observe(event)
      caches.observe(event)
      if (event.type === 'RetentionChanged') retentionWakeup.wake()
    },
    clear,
    repeated,
  })
  if (!log.problem()) await waitDuringStart(subscription.started)

  /** Resolves when the read models and the caches have applied a position. @throws Unavailable if that takes too long */
  const visible = async (position: bigint): Promise<void> => {
    await Promise.all([watermark.waitFor(position, REQUEST_WAIT_MS), lastSeen.waitFor(position, REQUEST_WAIT_MS)])
  }

  return {
    caches,
    transactors,
    /** Woken when the retention of a namespace has changed. */
    retentionWakeup,
    visible,
    /** Whether the subscription has reached the log. */
    hasStarted: subscription.hasStarted,
    close: subscription.close,
  }
}

export type Memory = Awaited<ReturnType<typeof openMemory>>
