import { type AllStreamSubscription, END, streamNameFilter } from '@eventstore/db-client'
import type { Address } from './address.ts'
import { newChangeCounter } from '../change-counter.ts'
import type { Connection } from './connection.ts'
import type { ReadResponse } from './read-response.ts'

/** The least time between two starts of the subscription. */
const PAUSE_MS = 200
/** The subscription ends after this many events without a waiting follower, because busy followers read the same events anyway. */
const MAX_UNHEARD = 200

export type WakeUps = {
  /** The count of wake-ups. Taken before a read, it shows later whether there may be newer events. */
  count(): number
  /** Wakes the followers: there may be new events. */
  increment(): void
  /** Waits until the count is not `since` any more, at most `timeoutMs` or until abort. Returns whether it has changed. */
  changed(since: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>
  /** Ends the subscription, because it did not announce an event that was read: its connection may be dead. */
  restart(): void
  close(): void
}

/**
 * Wakes followers at the log's end by a subscription, which is open while a follower waits. It only makes them faster: the server may
 * drop it, and it may freeze unnoticed, so followers poll as well.
 */
export const newWakeUps = (connection: Connection, { prefix, credentials }: Address): WakeUps => {
  const filter = streamNameFilter({ prefixes: [prefix, `$$${prefix}`], checkpointInterval: 1_000 })
  const { count, increment, isAwaited, changed: counterChanged } = newChangeCounter()
  let subscription: AllStreamSubscription | undefined
  let [unheard, notBefore, closed] = [0, 0, false]

  const stop = () => {
    const ended = subscription
    subscription = undefined
    unheard = 0
    ended?.unsubscribe().catch(() => {})
  }

  const announce = () => {
    if (!isAwaited()) unheard += 1
    if (unheard >= MAX_UNHEARD) stop()
    increment()
  }

  const listen = () => {
    if (subscription || closed || performance.now() < notBefore) return
    notBefore = performance.now() + PAUSE_MS
    const transform = ({ event, isConfirmation }: ReadResponse, _encoding: string, next: () => void) => {
      // A confirmation counts, too: events between the last read and the subscription's start are not announced.
      if (event || isConfirmation) announce()
      next()
    }
    const options = { fromPosition: END, filter, credentials } as const
    const opened = connection.client().subscribeToAll(options, { transform } as object)
    const forget = () => {
      if (subscription === opened) subscription = undefined
    }
    // Another server may take over between two reads: only a connection that is always open notices it.
    const fail = () => {
      connection.noteFailure()
      forget()
    }
    opened.on('error', fail).on('end', forget).on('close', forget).resume()
    subscription = opened
  }

  const changed = (since: number, timeoutMs: number, signal: AbortSignal) => {
    const change = counterChanged(since, timeoutMs, signal)
    if (count() === since && !signal.aborted) {
      unheard = 0
      listen()
    }
    return change
  }

  const close = () => {
    closed = true
    stop()
  }

  return { count, increment, changed, restart: stop, close }
}
