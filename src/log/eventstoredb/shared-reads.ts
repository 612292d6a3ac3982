import type { Position } from '../log.ts'
import type { ReadPage } from './reader.ts'

/** A read of one page that several followers may use. */
export type SharedRead = {
  /** The count of the wake-ups when the read began: what they announce later may not be in the page. */
  readonly seen: number
  /** Undefined when it could not be read. */
  readonly page: Promise<ReadPage | undefined>
  /** To be called by a follower that does not wait any longer: the last one to leave aborts the read. */
  leave(): void
}

/** A page that has come, and the count of the wake-ups when its read began. */
export type FoundPage = { readonly page: ReadPage; readonly seen: number }

type CachedRead = Pick<SharedRead, 'seen' | 'page'> & {
  /** The page, once it has come. */
  found?: ReadPage
  /** When it gets too old to be shared; infinite until the page has come. */
  until: number
  readonly stop: AbortController
  followers: number
  weight: number
}

export type SharedReads = {
  /** A read behind a position: one that another follower has begun there, or a new one. */
  behind(position: Position, isSparse?: boolean): SharedRead
  /**
   * A page joined with those behind it that other followers have read, while there are fewer than `count` events: a
   * follower that was busy catches up in one batch, as it would have done with a page read now.
   */
  joined(first: FoundPage, count: number): FoundPage
  /** Drops all pages, because some of their events have been erased. */
  forget(): void
}

export type SharedReadsOptions = {
  /** The count of the wake-ups. */
  readonly count: () => number
  readonly read: (after: Position, options: { signal: AbortSignal; isSparse: boolean }) => Promise<ReadPage>
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

const MAX_BYTES = 8 * 1024 * 1024
/** About what a page without events of ours takes in memory. */
const EMPTY_PAGE_BYTES = 16 * 1024
/** Not longer, because other processes may erase some of the events. */
const MAX_AGE_MS = 1_000

const weightOf = ({ events }: ReadPage) =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length + 200, EMPTY_PAGE_BYTES)

/**
 * Followers of one process go through the log close behind each other: the first one reads a page, the others get it from
 * memory. `seen` lets a follower that gets an older page notice at once that there may be newer events.
 */
export const newSharedReads = ({ count, read, now = () => performance.now() }: SharedReadsOptions): SharedReads => {
  const cache = new Map<Position, CachedRead>() // in the order in which the reads began
  let weight = 0

  const drop = (position: Position, cached: CachedRead) => {
    if (cache.get(position) !== cached) return
    cache.delete(position)
    weight -= cached.weight
  }

  /** Drops pages that are too old, and the oldest ones while all pages together are too large. */
  const evict = () => {
    for (const [position, cached] of cache)
      if (now() >= cached.until || (weight > MAX_BYTES && cached.weight > 0)) drop(position, cached)
  }

  const keep = (position: Position, cached: CachedRead, page: ReadPage) => {
    if (cache.get(position) !== cached) return
    cached.found = page
    cached.until = now() + MAX_AGE_MS
    cached.weight = weightOf(page)
    weight += cached.weight
    evict()
  }

  const begin = (position: Position, isSparse: boolean): CachedRead => {
    const stop = new AbortController()
    const seen = count() // before the read, so that nothing behind its page is missed
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
    const cached: CachedRead = { seen, page, until: Number.POSITIVE_INFINITY, stop, followers: 0, weight: 0 }
    cache.set(position, cached)
    return cached
  }

  const behind = (position: Position, isSparse = false): SharedRead => {
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

  const joined = (first: FoundPage, count: number): FoundPage => {
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

  const forget = () => {
    cache.clear()
    weight = 0
  }

  return { behind, joined, forget }
}
