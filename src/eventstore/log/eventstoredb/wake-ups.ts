import { type AllStreamSubscription, END, type Filter, streamNameFilter } from '@eventstore/db-client'
import type { Address } from './address.ts'
import { newChangeCounter } from '../change-counter.ts'
import type { Connection } from './connection.ts'
import type { OwnStreams } from './own-streams.ts'
import type { ReadResponse } from './read-response.ts'

/** The least time between two starts of the subscription. */
const PAUSE_MS = 200
/** The subscription ends after this many events without a waiting follower, because busy followers read the same events anyway. */
const MAX_UNHEARD = 200
/** Others write more often than this log does once so many more wake-ups were for events of theirs. */
const MAX_OTHERS = 20

export type WakeUps = {
  /** The count of wake-ups. Taken before a read, it shows later whether there may be newer events. */
  count(): number
  /** Wakes the followers: there may be new events. */
  increment(): void
  /** Waits until the count is not `since` any more, at most `timeoutMs` or until abort. Returns whether it has changed. */
  changed(since: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>
  /** Notes what a follower has found after a wake-up: an event of this log, or only events of others. */
  found(what: 'own' | 'others'): void
  /** Ends the subscription, because it did not announce an event that was read: its connection may be dead. */
  restart(): void
  close(): void
}

/**
 * No stream has an empty name, so the server sends no event, only a checkpoint for each: some twenty bytes instead of the whole event, which the
 * followers read anyway.
 */
const marks = streamNameFilter({ regex: '^$', maxSearchWindow: 1, checkpointInterval: 1 })

/**
 * Wakes followers at the log's end by a subscription, which is open while a follower waits. It only makes them faster: the server may
 * drop it, and it may freeze unnoticed, so followers poll as well. It has a mark for each event on the server; where others write more often than
 * this log does, it has the events of this log instead, because followers would read in vain for each event of others.
 */
export const newWakeUps = (
  connection: Connection,
  { credentials }: Address,
  { prefixes }: Pick<OwnStreams, 'prefixes'>,
): WakeUps => {
  const ownEvents = streamNameFilter({ prefixes: [...prefixes], checkpointInterval: 1_000 })
  const { count, increment, isAwaited, changed: counterChanged } = newChangeCounter()
  let subscription: AllStreamSubscription | undefined
  let [unheard, notBefore, closed] = [0, 0, false]
  let filter: Filter = marks
  let others = 0

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
    const isMarked = filter === marks
    const transform = ({ event, checkpoint, isConfirmation }: ReadResponse, _encoding: string, next: () => void) => {
      // A confirmation counts, too: events between the last read and the subscription's start are not announced.
      if (event || isConfirmation || (isMarked && checkpoint)) announce()
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

  const found = (what: 'own' | 'others') => {
    others = Math.min(MAX_OTHERS, Math.max(0, others + (what === 'own' ? -1 : 1)))
    const better = others === MAX_OTHERS ? ownEvents : others === 0 ? marks : filter
    if (better === filter) return
    filter = better
    stop()
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

  return { count, increment, changed, found, restart: stop, close }
}
