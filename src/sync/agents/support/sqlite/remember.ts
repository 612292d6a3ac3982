import { realpath } from 'node:fs/promises'
import { lookAtFiles } from './files.ts'

/** How old a change has to be until the next one is sure to have another time, on any file system. */
const SETTLED_MS = 2_000

/** How old a listing may be for those who can do with a recent one. */
const RECENT_MS = 10_000

export type Listing<T> = {
  /** What the database holds now. It is not queried when neither its file nor its write-ahead log has changed since. */
  readonly latest: (path: string) => Promise<T>
  /** What it held some seconds ago, or holds now. */
  readonly recent: (path: string) => Promise<T>
}

/** Remembers what `list` gives for a database. */
export const rememberListing = <T>(list: (path: string) => Promise<T>): Listing<T> => {
  const remembered = new Map<string, { readonly stamp: string; readonly at: number; readonly listing: T }>()
  const latest = async (path: string): Promise<T> => {
    const { main, wal, changedAt } = await lookAtFiles(await realpath(path))
    const stamp = `${main} ${wal}`
    const known = remembered.get(path)
    if (known?.stamp === stamp) return known.listing
    const listing = await list(path)
    // A change that comes within one tick of the last one gives the same stamp.
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
