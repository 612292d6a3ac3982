import type { Position } from '../log.ts'
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
  readonly stop: AbortController
  followers: number
  bytes: number
}

/** The reads of one follower. */
export type FollowerReads = {
  /** A read after a position: one that another follower has begun there, or a new one. The follower needs no page before it any more. */
  after(position: Position, isSparse?: boolean): SharedRead
  /**
   * Joins a page with the next ones that other followers have read, until there are `count` events: a follower that was busy
   * catches up in one batch, as with a page that is read now.
   */
  joined(first: SharedPage, count: number): SharedPage
  /** Ends the follower: no page is kept for it any more. */
  end(): void
}

export type SharedReads = {
  /** Adds a follower. */
  join(): FollowerReads
  /** Drops all pages, because some of their events have been erased. */
  forget(): void
}

type SharedReadsOptions = {
  /** The count of the wake-ups. */
  readonly count: () => number
  readonly read: (after: Position, options: { signal: AbortSignal; isSparse: boolean }) => Promise<ReadPage>
}

/**
 * A deferred group of read models is some seconds behind under load: with half as much, batches of messages came at 0.93 of the rate, because
 * it read all of them once more.
 */
const MAX_BYTES = 32 * 1024 * 1024
/** About how many bytes a page without events of Tracebook takes in memory. */
const EMPTY_PAGE_BYTES = 16 * 1024

const bytesOf = ({ events }: ReadPage) =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length + 200, EMPTY_PAGE_BYTES)

/**
 * The followers of one process read the log at about the same position: the first one reads a page, the others get it from
 * memory, where it stays until all have passed it. With `seen` a follower that gets an older page knows at once whether there may be newer events.
 */
export const newSharedReads = ({ count, read }: SharedReadsOptions): SharedReads => {
  const cache = new Map<Position, CachedRead>() // in the order in which the reads began
  const positions = new Map<FollowerReads, Position>()
  let bytes = 0

  const drop = (position: Position, cached: CachedRead) => {
    if (cache.get(position) !== cached) return
    cache.delete(position)
    bytes -= cached.bytes
  }

  const isPassed = (through: Position) => positions.values().every((position) => position >= through)

  /** Drops pages that all followers have passed, and the oldest ones while all pages together are too large. */
  const evict = () => {
    for (const [position, cached] of cache)
      if (cached.found && (bytes > MAX_BYTES || isPassed(cached.found.through))) drop(position, cached)
  }

  const keep = (position: Position, cached: CachedRead, page: ReadPage) => {
    if (cache.get(position) !== cached) return
    cached.found = page
    cached.bytes = bytesOf(page)
    bytes += cached.bytes
    evict()
  }

  const begin = (position: Position, isSparse: boolean): CachedRead => {
    const stop = new AbortController()
    const seen = count() // before the read, so that no event after its page is missed
    const page = read(position, { signal: stop.signal, isSparse }).then(
      (page) => {
        if (page.through > position) keep(position, cached, page)
        else drop(position, cached) // nothing new: the next follower has to read again
        return page
      },
      () => {
        drop(position, cached)
        return undefined
      },
    )
    const cached: CachedRead = { seen, page, stop, followers: 0, bytes: 0 }
    cache.set(position, cached)
    return cached
  }

  const joined = (first: SharedPage, count: number): SharedPage => {
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

  const join = () => {
    const after = (position: Position, isSparse = false): SharedRead => {
      positions.set(follower, position)
      evict()
      const cached = cache.get(position) ?? begin(position, isSparse)
      cached.followers += 1
      let hasLeft = false
      const leave = () => {
        if (!hasLeft) cached.followers -= 1
        hasLeft = true
        if (cached.followers > 0) return
        drop(position, cached)
        cached.stop.abort()
      }
      return { seen: cached.seen, page: cached.page, leave }
    }
    const end = () => {
      positions.delete(follower)
      evict()
    }
    const follower: FollowerReads = { after, joined, end }
    return follower
  }

  const forget = () => {
    cache.clear()
    bytes = 0
  }

  return { join, forget }
}
