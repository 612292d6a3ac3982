import { realpath } from 'node:fs/promises'
import { lookAtFiles } from './files.ts'

/** After this time another change has another time stamp, on any file system. */
const SETTLED_MS = 2_000

/** How old the result of `recent` may be. */
const RECENT_MS = 10_000

type Listing<T> = {
  /** What the database holds now. It is queried only where its file or its write-ahead log has changed since the last time. */
  readonly latest: (path: string) => Promise<T>
  /** What the database holds now, or held some seconds ago. */
  readonly recent: (path: string) => Promise<T>
}

/** Remembers the result of `list` for each database. */
export const rememberListing = <T>(list: (path: string) => Promise<T>): Listing<T> => {
  const remembered = new Map<string, { readonly stamp: string; readonly at: number; readonly listing: T }>()
  const latest = async (path: string): Promise<T> => {
    const { main, wal, changedAt } = await lookAtFiles(await realpath(path))
    const stamp = `${main} ${wal}`
    const known = remembered.get(path)
    if (known?.stamp === stamp) return known.listing
    const listing = await list(path)
    // Another change within one tick of the file system's clock would have the same stamp.
    const isSettled = Date.now() - changedAt > SETTLED_MS
    remembered.set(path, { stamp: isSettled ? stamp : '', at: performance.now(), listing })
    return listing
  }
  const recent = async (path: string): Promise<T> => {
    const known = remembered.get(path)
    return known && performance.now() - known.at < RECENT_MS ? known.listing : latest(path)
  }
  return { latest, recent }
}
