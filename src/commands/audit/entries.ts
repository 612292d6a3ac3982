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

const keyOf = ({ trace, revision, type, at }: TimelineEntry) => JSON.stringify([trace?.id, revision, type, at])

/**
 * Gives what reads the entries that have come since it was called last, the oldest first; at first all there are. The last page
 * has no cursor behind it, so it is read again, without what was given of it.
 */
export const newEntryReader = (read: ReadPage): (() => AsyncGenerator<TimelineEntry, void>) => {
  const given = new Set<string>()
  let cursor: string | undefined
  return async function* () {
    for (;;) {
      const { events, nextCursor } = await read(cursor)
      for (const entry of events) {
        const key = keyOf(entry)
        if (given.has(key)) continue
        given.add(key)
        yield entry
      }
      if (nextCursor === undefined) return
      cursor = nextCursor
      given.clear()
    }
  }
}
