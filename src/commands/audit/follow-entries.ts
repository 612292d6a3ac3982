import { parseExact } from '../../base/json/exact.ts'
import { pause } from '../../base/waits.ts'
import { newRealtimeClient } from '../../realtime/client/client.ts'
import { hasStatus, isTemporaryFailure } from '../../sync/api/errors.ts'
import type { TimelineEntry } from '../../sync/api/history.ts'
import { type RetryTiming, realTiming } from '../../sync/api/retry.ts'
import { newConnectionNotice } from '../../tail/follow.ts'

/** What the realtime queries do not tell, such as a new member, is found by asking this often. */
const POLL_MS = 10_000

/** Waits that can be cut short. */
const newBell = () => {
  let rung = new AbortController()
  return {
    ring: () => rung.abort(),
    /** Resolves after so long, or when it rings; at once when it rang since the last time. */
    heard: async (ms: number) => {
      await pause(ms, rung.signal)
      rung = new AbortController()
    },
  }
}

/** When to look for new entries: woken by realtime queries, else now and then. */
export type Waking = {
  /** Of requests: a connection that is there again cuts the wait for another try short. */
  readonly timing: RetryTiming
  /** Begins to listen for changes of a trace, or of the namespace of the token; gives what ends it. */
  readonly listen: (options: WakingOptions) => () => void
  readonly wait: () => Promise<void>
}

export type WakingOptions = {
  readonly server: string
  readonly token: string
  readonly externalId: string | undefined
}

export const newWaking = (say: (text: string) => void): Waking => {
  const [changed, connected] = [newBell(), newBell()]
  const listen = ({ server, token, externalId }: WakingOptions) => {
    const notice = newConnectionNotice(say)
    const client = newRealtimeClient({
      server,
      parse: parseExact,
      state: (state) => {
        notice(state)
        if (state.is === 'open') connected.ring()
      },
    })
    // A refused subscription leaves the polling, whose answer says why.
    const listener = { value: changed.ring }
    if (externalId !== undefined) client.subscribe('traces:get', { externalId, authToken: token }, listener)
    else client.subscribe('feed:getNamespaceTraces', { authToken: token, limit: 1 }, listener)
    return client.close
  }
  return {
    timing: { ...realTiming, sleep: (ms) => connected.heard(ms) },
    listen,
    wait: () => changed.heard(POLL_MS),
  }
}

export type FollowEntries = {
  readonly read: () => AsyncIterable<TimelineEntry>
  readonly show: (entry: TimelineEntry) => Promise<void>
  readonly waking: Waking
  readonly say: (text: string) => void
}

/** Shows each entry that comes, until a request is refused; a trace that is gone and a service that is away are waited for. */
export const followEntries = async ({ read, show, waking, say }: FollowEntries): Promise<never> => {
  let isGone = false
  for (;;) {
    await waking.wait()
    try {
      for await (const entry of read()) await show(entry)
      isGone = false
    } catch (error) {
      if (isTemporaryFailure(error)) continue
      if (!hasStatus(error, 404)) throw error
      if (!isGone) say('It is gone, or may not be read any more; waiting for it.')
      isGone = true
    }
  }
}
