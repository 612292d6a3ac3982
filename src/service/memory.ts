import { repeated } from '../effects.ts'
import { subscribeCaches } from '../engine/cache-subscription.ts'
import type { NodePermits } from '../http/node-permits.ts'
import { REQUEST_WAIT_MS, newWakeup } from '../base/waits.ts'
import { newCaches } from './caches.ts'
import { waitDuringStart } from './log.ts'
import type { Stores } from './stores.ts'
import { newTransactors } from './transactors.ts'

/**
 * The memory of this node: the transactors with the states of streams, and the caches. A subscription to the log keeps both
 * current; while it cannot, no answer comes from memory.
 */
export const openMemory = async (stores: Stores, permits: NodePermits, now: () => number) => {
  const { metrics, log, codec, outage, lastSeen, groups, reads } = stores
  const { watermark, quarantine } = groups.main
  const isCurrent = () => subscription.isCurrent()
  const caches = newCaches({
    reads,
    now,
    isCurrent,
    lastSeen: lastSeen.position,
    readModelsPosition: watermark.position,
    caughtUp: (position) => watermark.waitFor(position, REQUEST_WAIT_MS),
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
  log.onChange(caches.restart)

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
