import type { TimelineEntry, TimelinePage } from '../../client/api/history.ts'
import { pagesOf } from '../../client/api/pages.ts'

/** Reads the page of a timeline after a cursor; without one the first page. */
export type ReadPage = (cursor: string | undefined) => Promise<TimelinePage>

/** The entries of a timeline from its first page on, at most `most`. */
export async function* listedEntries(read: ReadPage, most: number): AsyncGenerator<TimelineEntry, void> {
  let left = most
  if (left <= 0) return
  for await (const { events } of pagesOf(read)) {
    yield* events.slice(0, left)
    left -= events.length
    if (left <= 0) return
  }
}

const isDeletion = ({ type }: TimelineEntry) => type === 'TraceDeleted'

/** A key that is the same each time an entry is read: a later deletion of a trace lists the earlier ones again, with its own revision. */
const keyOf = (entry: TimelineEntry) => {
  const { trace, revision, type, at, createdAt } = entry
  return JSON.stringify([trace?.id, type, at, isDeletion(entry) ? createdAt : revision])
}

/**
 * Returns a reader. Each call yields the entries that are new since the last call, oldest first; the first call yields all. The last
 * page has no next cursor, so it is read again, without the entries already yielded; deletions are remembered for good. A cursor
 * always leads to entries, so if a page after one is empty the timeline has lost its end: `lost` is called, and the timeline is read
 * from its beginning for entries newer than the newest one yielded.
 */
export const newEntryReader = (
  read: ReadPage,
  lost: () => void = () => {},
): (() => AsyncGenerator<TimelineEntry, void>) => {
  const [ofPage, deletions] = [new Set<string>(), new Set<string>()]
  let cursor: string | undefined
  let [newest, yieldedUntil] = [-Infinity, -Infinity]
  return async function* () {
    for (;;) {
      const { events, nextCursor } = await read(cursor)
      if (cursor !== undefined && events.length === 0) {
        lost()
        cursor = undefined
        yieldedUntil = newest
        continue
      }
      for (const entry of events) {
        const [yielded, key] = [isDeletion(entry) ? deletions : ofPage, keyOf(entry)]
        if (yielded.has(key) || entry.at <= yieldedUntil) continue
        yielded.add(key)
        newest = Math.max(newest, entry.at)
        yield entry
      }
      if (nextCursor === undefined) return
      cursor = nextCursor
      ofPage.clear()
    }
  }
}
