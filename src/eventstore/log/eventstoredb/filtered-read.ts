import { type AllStreamSubscription, START, streamNameFilter } from '@eventstore/db-client'
import type { Position } from '../log.ts'
import type { OwnStreams } from './own-streams.ts'
import { consume, newPageCollector, passThrough } from './page.ts'
import type { StoredEvent } from './read-response.ts'
import type { RetryingRead } from './retrying-client.ts'
import type { ServerReads } from './server-reads.ts'

type FilteredPage = {
  readonly events: readonly StoredEvent[]
  /** The page has all events of Tracebook up to this position. */
  readonly through: Position
  /** Whether the read has reached the position that was the log's end when the read began. */
  readonly isComplete: boolean
}

type FilteredReadOptions = {
  readonly credentials: { readonly username: string; readonly password: string }
  readonly ownStreams: Pick<OwnStreams, 'prefixes' | 'isOwn'>
  /** After this many milliseconds the read ends at the next checkpoint, so that its follower gets the events so far. */
  readonly maxMs?: number
}

export type FilteredReadSource = Pick<ServerReads, 'head' | 'recordAt' | 'positionBefore'>

const MAX_EVENTS = 1_000
const MAX_MS = 1_000
/** The server sends a checkpoint after this many events, whether they belong to Tracebook or not. */
const CHECKPOINT_EVENTS = 1_000
/** A subscription without events for so long counts as caught up, because some server versions do not report it. */
const SILENCE_MS = 1_000

type Range = readonly [start: Position, end: Position]

/** What a filtered subscription has sent so far. */
type Received = { readonly events: readonly StoredEvent[]; readonly checkpoint: Position; readonly isComplete: boolean }

type FilteredRead = (after: Position, signal?: AbortSignal) => Promise<FilteredPage | undefined>

/**
 * Reads events of Tracebook after a position where most events are of other applications. The server filters them, in a
 * subscription that ends once it has caught up (the server would drop a live one whenever its reader is slow). Undefined if only an
 * ordinary page can continue.
 *
 * - A subscription that begins at a scavenged event loses the next event that is left. So this one begins at a record,
 *   which must still be there at the end; a record after `after` is itself one of the wanted events.
 * - After a checkpoint the server has examined everything before it, but perhaps not the event at it. So `through` is a record before
 *   the checkpoint; it is the end only once something from beyond the end has come.
 */
export const newFilteredRead = (
  retryingRead: RetryingRead,
  server: FilteredReadSource,
  options: FilteredReadOptions,
): FilteredRead => {
  const { ownStreams, credentials, maxMs = MAX_MS } = options
  const isOurs = ({ stream }: { readonly stream: string }) => ownStreams.isOwn(stream)
  const filter = streamNameFilter({ prefixes: [...ownStreams.prefixes], maxSearchWindow: CHECKPOINT_EVENTS })

  /** Collects events of a range, until a page is full, the time is over, or the server is silent or fails. */
  const collect = async (
    source: AllStreamSubscription,
    [start, end]: Range,
    signal?: AbortSignal,
  ): Promise<Received> => {
    const { events, take } = newPageCollector(MAX_EVENTS)
    const stopAt = performance.now() + maxMs
    let [checkpoint, isComplete] = [0n, false]
    const consumed = consume(source, { timeoutMs: SILENCE_MS, signal }, ({ event, isCaughtUp, ...response }) => {
      checkpoint = response.checkpoint ?? checkpoint
      isComplete = isCaughtUp === true || checkpoint > end || (event !== undefined && event.position > end)
      if (isComplete) return false
      if (event && isOurs(event)) return take(event)
      return checkpoint <= start || performance.now() < stopAt
    })
    await consumed.catch((error) => {
      if (signal?.aborted) throw error
    })
    return { events, checkpoint, isComplete }
  }

  /** The position up to which an incomplete read has returned all events of Tracebook. */
  const throughOf = async ({ events, checkpoint }: Received, start: Position) => {
    const examined = checkpoint > start ? await server.positionBefore(checkpoint).catch(() => undefined) : undefined
    const last = events.at(-1)?.position ?? start
    return examined !== undefined && examined > last ? examined : last
  }

  return async (after, signal) => {
    const end = await server.head()
    const first = after > 0n ? await server.recordAt(after) : undefined
    if (first === 'not a record' || (after > 0n && !first)) return undefined
    const start = first?.position ?? 0n
    if (start >= end) return undefined
    const fromPosition = first ? { commit: start, prepare: start } : START
    // From the leader: another node may report that it has caught up before it has reached the end.
    const subscription = { fromPosition, filter, credentials, requiresLeader: true } as const
    const received = await retryingRead(
      (client) => collect(client.subscribeToAll(subscription, passThrough), [start, end], signal),
      signal,
    )

    const again = first && (await server.recordAt(start))
    if (first && (again === 'not a record' || again?.position !== start)) return undefined
    const through = received.isComplete ? end : await throughOf(received, start)
    if (through <= after) return undefined
    const beforeSubscription = first && start > after && isOurs(first) ? [first] : []
    return { events: [...beforeSubscription, ...received.events], through, isComplete: received.isComplete }
  }
}
