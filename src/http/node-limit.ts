import type { SharedLimit } from './shared-limit.ts'

/** How often sessions, or addresses, do something: counted in memory, shared with other nodes where it comes to matter. */
export type NodeLimit = {
  /** Counts one; the milliseconds to wait when that is too much. */
  take(key: string): number | undefined
  /** Takes back one that was counted, because it does not count after all. */
  giveBack(key: string): void
  /** Tells the other nodes what was counted here since the last time. */
  share(): Promise<void>
}

export type NodeLimitOptions = {
  readonly shared: Pick<SharedLimit, 'add'>
  /** How many in a minute. */
  readonly points: number
  /** Milliseconds that only move forward. */
  readonly elapsed: () => number
  /** How many keys are counted at most: the oldest makes room. */
  readonly keep?: number
}

type Entry = { count: number; unshared: number; blockedUntil: number }

const WINDOW_MS = 60_000
/** From this part of its points on a session is worth a query: one that stays far below never costs any. */
const WORTH_SHARING = 0.05

/**
 * A query for each request would cost more than many of the requests: each node counts for itself, and tells Postgres
 * of the busy sessions only. So n nodes let through at most n × 5 % more than the limit.
 */
export const newNodeLimit = ({ shared, points, elapsed, keep = 100_000 }: NodeLimitOptions): NodeLimit => {
  const entries = new Map<string, Entry>()
  const worth = Math.max(1, Math.floor(points * WORTH_SHARING))
  let windowEnd = elapsed() + WINDOW_MS

  const startWindow = (now: number) => {
    windowEnd = now + WINDOW_MS
    for (const [id, entry] of entries) {
      if (entry.blockedUntil <= now) entries.delete(id)
      else entry.count = entry.unshared = 0
    }
  }

  const entryOf = (key: string): Entry => {
    const known = entries.get(key)
    if (known) return known
    if (entries.size >= keep) entries.delete(entries.keys().next().value!)
    const entry = { count: 0, unshared: 0, blockedUntil: 0 }
    entries.set(key, entry)
    return entry
  }

  const take = (key: string) => {
    const now = elapsed()
    if (now >= windowEnd) startWindow(now)
    const entry = entryOf(key)
    if (entry.blockedUntil > now) return entry.blockedUntil - now
    entry.count += 1
    entry.unshared += 1
    return entry.count > points ? windowEnd - now : undefined
  }

  const giveBack = (key: string) => {
    const entry = entries.get(key)
    if (!entry || entry.count === 0) return // its minute is over
    entry.count -= 1
    entry.unshared -= 1
  }

  const shareOne = async (id: string, entry: Entry) => {
    const points = entry.unshared
    entry.unshared = 0
    const wait = await shared.add(id, points)
    if (wait !== undefined) entry.blockedUntil = elapsed() + wait
  }

  const share = async () => {
    const busy = [...entries].filter(([, { unshared }]) => unshared >= worth)
    await Promise.all(busy.map(([id, entry]) => shareOne(id, entry)))
  }

  return { take, giveBack, share }
}
