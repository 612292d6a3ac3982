import { parseExact } from '../../base/json/exact.ts'
import { newWakeup } from '../../base/waits.ts'
import { newRealtimeClient } from '../../contract/realtime-client/client.ts'
import { hasStatus, isTemporaryFailure } from '../../client/api/errors.ts'
import type { TimelineEntry } from '../../client/api/history.ts'
import { realTiming } from '../../client/api/retry.ts'
import { newConnectionNotice } from '../../client/tail/follow.ts'

/** Realtime queries do not report all entries, such as a new member, so the timeline is also polled. */
const POLL_MS = 10_000

type WakingOptions = {
  readonly server: string
  readonly token: string
  readonly externalId: string | undefined
}

/** When to read new entries: woken by realtime queries, else by polling. */
export const newWaking = (say: (text: string) => void) => {
  const [changed, connected] = [newWakeup(), newWakeup()]

  /** Listens for changes of a trace, or of the token's namespace. Returns a function that ends it. */
  const listen = ({ server, token, externalId }: WakingOptions) => {
    const notice = newConnectionNotice(say)
    const client = newRealtimeClient({
      server,
      parse: parseExact,
      state: (state) => {
        notice(state)
        if (state.is === 'open') connected.wake()
      },
    })
    // If the subscription is refused, polling remains, whose answer says why.
    const listener = { value: changed.wake }
    if (externalId !== undefined) client.subscribe('traces:get', { externalId, authToken: token }, listener)
    else client.subscribe('feed:getNamespaceTraces', { authToken: token, limit: 1 }, listener)
    return client.close
  }

  return {
    /** For requests: a restored connection cuts the wait before a retry short. */
    timing: { ...realTiming, sleep: (ms: number) => connected.sleep(ms) },
    listen,
    wait: () => changed.sleep(POLL_MS),
  }
}

type Waking = ReturnType<typeof newWaking>

type FollowEntries = {
  readonly read: () => AsyncIterable<TimelineEntry>
  readonly show: (entry: TimelineEntry) => Promise<void>
  readonly waking: Waking
  readonly say: (text: string) => void
}

/** Shows each new entry until a request is refused. It keeps waiting for a trace that was deleted, and for a service that is away. */
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
      if (!isGone) say('The trace was deleted, or you may no longer read it; waiting for it.')
      isGone = true
    }
  }
}
