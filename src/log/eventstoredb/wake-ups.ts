import { type AllStreamSubscription, END, streamNameFilter } from '@eventstore/db-client'
import type { Address } from './address.ts'
import { newVersion } from '../change-counter.ts'
import type { Connection } from './connection.ts'
import type { Sent } from './read-response.ts'

const PAUSE_MS = 200
/** So many events with nobody waiting: followers are busy, and the server would send all of it twice. */
const UNHEARD = 200

export type WakeUps = {
  /** Counts wake-ups: what has been seen before a look cannot be missed after it. */
  version(): number
  /** Says that there may be something new. */
  wake(): void
  /** Waits until the version has moved on, for `timeoutMs`, or until abort. Says whether it has. */
  changed(since: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>
  /** Something came that the subscription did not announce: it may be dead without a word. */
  missed(): void
  close(): void
}

/**
 * A subscription to the end of the log, while somebody waits there. It only shortens the wait: it is dropped when it
 * is slow, may end or freeze silently, and behind it followers look by themselves.
 */
export const newWakeUps = (connection: Connection, { prefix, credentials }: Address): WakeUps => {
  const filter = streamNameFilter({ prefixes: [prefix, `$$${prefix}`], checkpointInterval: 1_000 })
  const { now: version, move: wake, isAwaited, changed: moved } = newVersion()
  let subscription: AllStreamSubscription | undefined
  let [unheard, notBefore, closed] = [0, 0, false]

  const stop = () => {
    const ended = subscription
    subscription = undefined
    unheard = 0
    ended?.unsubscribe().catch(() => {})
  }

  const heard = () => {
    if (!isAwaited()) unheard += 1
    if (unheard >= UNHEARD) stop()
    wake()
  }

  const listen = () => {
    if (subscription || closed || performance.now() < notBefore) return
    notBefore = performance.now() + PAUSE_MS
    const transform = ({ event, isConfirmation }: Sent, _encoding: string, next: () => void) => {
      // Confirmed: what came between the last look and this moment has not been announced.
      if (event || isConfirmation) heard()
      next()
    }
    const options = { fromPosition: END, filter, credentials } as const
    const fresh = connection.client().subscribeToAll(options, { transform } as object)
    const gone = () => {
      if (subscription === fresh) subscription = undefined
    }
    // Between two looks a server may go and another one come: only what was open all the time notices.
    const broken = () => {
      connection.fault()
      gone()
    }
    fresh.on('error', broken).on('end', gone).on('close', gone).resume()
    subscription = fresh
  }

  const changed = (since: number, timeoutMs: number, signal: AbortSignal) => {
    const change = moved(since, timeoutMs, signal)
    if (version() === since && !signal.aborted) {
      unheard = 0
      listen()
    }
    return change
  }

  const close = () => {
    closed = true
    stop()
  }

  return { version, wake, changed, missed: stop, close }
}
