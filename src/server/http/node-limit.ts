import type { SharedLimit } from './shared-limit.ts'

/** A limit by session or by address. It is counted in memory; large counts are shared with other nodes. */
export type NodeLimit = {
  /** Counts one request. The result is the milliseconds to wait if the limit is exceeded. */
  take(key: string): number | undefined
  /** Uncounts a request. */
  giveBack(key: string): void
  /** Shares the counts since the last call with the other nodes. */
  share(): Promise<void>
}

type NodeLimitOptions = {
  readonly shared: Pick<SharedLimit, 'add'>
  /** The limit, in requests per minute. */
  readonly points: number
  /** A monotonic clock, in milliseconds. */
  readonly elapsed: () => number
  /** The maximum number of keys; then the oldest is dropped. Default: 100,000. */
  readonly keep?: number
}

type Entry = { count: number; unshared: number; blockedUntil: number }

const WINDOW_MS = 60_000
/** Counts below this part of the limit are not shared: most sessions never exceed it, and sharing costs a query. */
const WORTH_SHARING = 0.05

/**
 * A query for each request would cost more than many requests do, so each node counts in memory and shares only the counts of
 * busy keys. With n nodes, at most n × 5 % more requests than the limit get through, and those between two calls of `share`.
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
    if (!entry || entry.count === 0) return // a new minute has begun
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
