import { type AllStreamSubscription, START, streamNameFilter } from '@eventstore/db-client'
import type { Position } from '../log.ts'
import type { Ask } from './retrying-client.ts'
import { asSent, consume, newTaker } from './page.ts'
import type { Stored } from './read-response.ts'

export type Swept = {
  readonly events: readonly Stored[]
  /** All of ours up to here is among the events. */
  readonly through: Position
  /** Whether it has come to where the log ended when it began. */
  readonly isComplete: boolean
}

export type SweepOptions = {
  readonly credentials: { readonly username: string; readonly password: string }
  /** What the names of the streams begin with. */
  readonly prefixes: readonly string[]
  /** How long it goes on before it stops at the next checkpoint, so that its follower hears of it. */
  readonly longestMs?: number
}

/** What a sweep has to know of the log besides. */
export type Ground = {
  /** The position of the last record. */
  head(): Promise<Position>
  /** The record at a position, or else the next behind it; nothing beyond the end. */
  at(position: Position): Promise<Stored | 'not a record' | undefined>
  /** The position of the last record before one. */
  before(position: Position): Promise<Position | undefined>
}

const MAX_EVENTS = 1_000
const LONGEST_MS = 1_000
/** The server says how far it has come after so many events, ours or not. */
const CHECKPOINT_EVENTS = 1_000
/** A server that says nothing for so long has come to the end, and does not say so: versions differ. */
const QUIET_MS = 1_000

type Range = readonly [start: Position, end: Position]

/** How far a filtered subscription has come. */
type Seen = { readonly events: readonly Stored[]; readonly checkpoint: Position; readonly isComplete: boolean }

export type Sweep = (after: Position, signal?: AbortSignal) => Promise<Swept | undefined>

/**
 * Passes over what is not ours: the server itself looks through the log, by a filtered subscription, of which only the
 * catching-up is used: it is not dropped when the reader is slow. Nothing when only a page can go on from there.
 *
 * - A subscription that begins at a scavenged event loses the next one that is left. So this one begins at a record,
 *   which must still stand when it is over; a record behind `after` is itself among what has been asked for.
 * - A checkpoint says that what stands before it has been looked at, but not whether it has been itself. So `through` is
 *   a record before it; and it is the end only on word from beyond the end.
 */
export const newSweep = (ask: Ask, ground: Ground, options: SweepOptions): Sweep => {
  const { prefixes, credentials, longestMs = LONGEST_MS } = options
  const isOurs = ({ stream }: { readonly stream: string }) => prefixes.some((prefix) => stream.startsWith(prefix))
  const filter = streamNameFilter({ prefixes: [...prefixes], maxSearchWindow: CHECKPOINT_EVENTS })

  /** Takes ours from one record to another, until it is enough, has taken long, or the server is quiet or away. */
  const collect = async (source: AllStreamSubscription, [start, end]: Range, signal?: AbortSignal): Promise<Seen> => {
    const { events, take } = newTaker(MAX_EVENTS)
    const stopAt = performance.now() + longestMs
    let [checkpoint, isComplete] = [0n, false]
    const goesOn = consume(source, { patienceMs: QUIET_MS, signal }, ({ event, isCaughtUp, ...sent }) => {
      checkpoint = sent.checkpoint ?? checkpoint
      isComplete = isCaughtUp === true || checkpoint > end || (event !== undefined && event.position > end)
      if (isComplete) return false
      if (event && isOurs(event)) return take(event)
      return checkpoint <= start || performance.now() < stopAt
    })
    await goesOn.catch((error) => {
      if (signal?.aborted) throw error
    })
    return { events, checkpoint, isComplete }
  }

  /** How far all of ours has been seen by then, when that is not the end. */
  const throughOf = async ({ events, checkpoint }: Seen, start: Position) => {
    const looked = checkpoint > start ? await ground.before(checkpoint).catch(() => undefined) : undefined
    const last = events.at(-1)?.position ?? start
    return looked !== undefined && looked > last ? looked : last
  }

  return async (after, signal) => {
    const end = await ground.head()
    const first = after > 0n ? await ground.at(after) : undefined
    if (first === 'not a record' || (after > 0n && !first)) return undefined
    const start = first?.position ?? 0n
    if (start >= end) return undefined
    const fromPosition = first ? { commit: start, prepare: start } : START
    // Another node than the leader may be caught up before the end.
    const question = { fromPosition, filter, credentials, requiresLeader: true } as const
    const seen = await ask((client) => collect(client.subscribeToAll(question, asSent), [start, end], signal), signal)

    const again = first && (await ground.at(start))
    if (first && (again === 'not a record' || again?.position !== start)) return undefined
    const through = seen.isComplete ? end : await throughOf(seen, start)
    if (through <= after) return undefined
    const missed = first && start > after && isOurs(first) ? [first] : []
    return { events: [...missed, ...seen.events], through, isComplete: seen.isComplete }
  }
}
