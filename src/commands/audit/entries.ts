import type { TimelineEntry, TimelinePage } from '../../sync/api/history.ts'

/** Reads the page of a timeline behind a cursor; the first one without. */
export type ReadPage = (cursor: string | undefined) => Promise<TimelinePage>

/** The entries of a timeline from its first page on, at most so many. */
export async function* listedEntries(read: ReadPage, most: number): AsyncGenerator<TimelineEntry, void> {
  let left = most
  let cursor: string | undefined
  do {
    if (left <= 0) return
    const { events, nextCursor } = await read(cursor)
    for (const entry of events.slice(0, left)) yield entry
    left -= events.length
    cursor = nextCursor
  } while (cursor !== undefined)
}

const isDeletion = ({ type }: TimelineEntry) => type === 'TraceDeleted'

/** A deletion is told of again by a later one of the same trace, at the revision of that one. */
const keyOf = (entry: TimelineEntry) => {
  const { trace, revision, type, at, createdAt } = entry
  return JSON.stringify([trace?.id, type, at, isDeletion(entry) ? createdAt : revision])
}

/**
 * Gives what reads the entries that have come since it was called last, the oldest first; at first all there are. The last page
 * has no cursor behind it, so it is read again, without what was given of it; deletions are remembered for good. A cursor leads
 * to entries, so where none are left the timeline has lost its end: `lost` is called, and what has happened since the newest
 * entry given is read from its beginning.
 */
export const newEntryReader = (
  read: ReadPage,
  lost: () => void = () => {},
): (() => AsyncGenerator<TimelineEntry, void>) => {
  const [ofPage, deletions] = [new Set<string>(), new Set<string>()]
  let cursor: string | undefined
  let [newest, givenUntil] = [-Infinity, -Infinity]
  return async function* () {
    for (;;) {
      const { events, nextCursor } = await read(cursor)
      if (cursor !== undefined && events.length === 0) {
        lost()
        cursor = undefined
        givenUntil = newest
        continue
      }
      for (const entry of events) {
        const [given, key] = [isDeletion(entry) ? deletions : ofPage, keyOf(entry)]
        if (given.has(key) || entry.at <= givenUntil) continue
        given.add(key)
        newest = Math.max(newest, entry.at)
        yield entry
      }
      if (nextCursor === undefined) return
      cursor = nextCursor
      ofPage.clear()
    }
  }
}
