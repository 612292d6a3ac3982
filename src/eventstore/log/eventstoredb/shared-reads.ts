import type { Position } from '../log.ts'
import type { EpochGuard } from './epoch-guard.ts'
import type { ReadPage } from './reader.ts'

/** A read of one page that several followers may share. */
export type SharedRead = {
  /** The count of wake-ups when the read began: events of later wake-ups may not be in the page. */
  readonly seen: number
  /** Undefined if the read has failed. */
  readonly page: Promise<ReadPage | undefined>
  /** Called by a follower that stops waiting. The last one aborts the read. */
  leave(): void
}

/** A page, and the count of wake-ups when its read began. */
type SharedPage = { readonly page: ReadPage; readonly seen: number }

type CachedRead = Pick<SharedRead, 'seen' | 'page'> & {
  /** The page, once the read is done. */
  found?: ReadPage
  /** When the page is too old to be shared; infinite until the read is done. */
  until: number
  readonly stop: AbortController
  followers: number
  bytes: number
}

export type SharedReads = {
  /** A read after a position: one that another follower has begun there, or a new one. */
  after(position: Position, isSparse?: boolean): SharedRead
  /**
   * Joins a page with the next ones that other followers have read, until there are `count` events: a follower that was busy
   * catches up in one batch, as with a page that is read now.
   */
  joined(first: SharedPage, count: number): SharedPage
  /**
   * Drops all pages, because some of their events have been erased.
   * @param truncation the position of the truncation if it was read: one that was known before drops nothing
   */
  forget(truncation?: Position): void
}

type SharedReadsOptions = {
  /** The count of the wake-ups. */
  readonly count: () => number
  readonly read: (after: Position, options: { signal: AbortSignal; isSparse: boolean }) => Promise<ReadPage>
  /** Only pages of a verified log are kept, and the last event of each is noted: if the log has lost it later, it counts as changed. */
  readonly guard: Pick<EpochGuard, 'verification' | 'noteRead'>
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

/**
 * Deferred groups of read models are some seconds behind under load. With half as many bytes they read again what others had read, and messages came at
 * 0.93 of the rate; with pages that are kept for a second, at 0.85.
 */
const [MAX_BYTES, MAX_AGE_MS] = [32 * 1024 * 1024, 10_000]
/** About how many bytes a page without events of Tracebook takes in memory. */
const EMPTY_PAGE_BYTES = 16 * 1024

const bytesOf = ({ events }: ReadPage) =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length + 200, EMPTY_PAGE_BYTES)

/**
 * The followers of one process read the log at about the same position: the first one reads a page, the others get it from
 * memory. With `seen` a follower that gets an older page knows at once whether there may be newer events.
 */
export const newSharedReads = ({
  count,
  read,
  guard,
  now = () => performance.now(),
}: SharedReadsOptions): SharedReads => {
  const cache = new Map<Position, CachedRead>() // in the order in which the reads began
  let bytes = 0
  let lastTruncation = 0n

  const drop = (position: Position, cached: CachedRead) => {
    if (cache.get(position) !== cached) return
    cache.delete(position)
    bytes -= cached.bytes
  }

  /** Drops pages that are too old, and the oldest ones while all pages together are too large. */
  const evict = () => {
    for (const [position, cached] of cache)
      if (now() >= cached.until || (bytes > MAX_BYTES && cached.bytes > 0)) drop(position, cached)
  }

  const keep = (position: Position, cached: CachedRead, page: ReadPage) => {
    if (cache.get(position) !== cached) return
    guard.noteRead(page.events.at(-1))
    cached.found = page
    cached.until = now() + MAX_AGE_MS
    cached.bytes = bytesOf(page)
    bytes += cached.bytes
    evict()
  }

  const begin = (position: Position, isSparse: boolean): CachedRead => {
    const stop = new AbortController()
    const seen = count() // before the read, so that no event after its page is missed
    const verification = guard.verification()
    const isVerified = () => verification !== undefined && guard.verification() === verification
    const page = read(position, { signal: stop.signal, isSparse }).then(
      (page) => {
        if (page.through > position && isVerified()) keep(position, cached, page)
        else drop(position, cached) // with nothing new the next follower has to read again
        return page
      },
      () => {
        drop(position, cached)
        return undefined
      },
    )
    const cached: CachedRead = { seen, page, until: Number.POSITIVE_INFINITY, stop, followers: 0, bytes: 0 }
    cache.set(position, cached)
    return cached
  }

  const after = (position: Position, isSparse = false): SharedRead => {
    evict()
    const cached = cache.get(position) ?? begin(position, isSparse)
    cached.followers += 1
    let hasLeft = false
    const leave = () => {
      if (!hasLeft) cached.followers -= 1
      hasLeft = true
      if (cached.followers > 0 || cached.found) return
      drop(position, cached)
      cached.stop.abort()
    }
    return { seen: cached.seen, page: cached.page, leave }
  }

  const joined = (first: SharedPage, count: number): SharedPage => {
    evict()
    const found = [first]
    let [events, last] = [first.page.events.length, first]
    while (events < count) {
      const { found: page, seen } = cache.get(last.page.through) ?? {}
      if (!page || seen === undefined) break
      last = { page, seen }
      found.push(last)
      events += page.events.length
    }
    return { ...last, page: { ...last.page, events: found.flatMap(({ page }) => page.events) } }
  }

  const forget = (truncation?: Position) => {
    if (truncation !== undefined && truncation <= lastTruncation) return
    lastTruncation = truncation ?? lastTruncation
    cache.clear()
    bytes = 0
  }

  return { after, joined, forget }
}
