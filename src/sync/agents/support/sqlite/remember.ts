import { realpath } from 'node:fs/promises'
import { lookAtFiles } from './files.ts'

/** How old a change has to be until the next one is sure to have another time, on any file system. */
const SETTLED_MS = 2_000

/**
 * A function that gives the same as `list`, but does not query a database again of which neither the file nor the write-ahead
 * log has changed since.
 */
export const rememberListing = <T>(list: (path: string) => Promise<T>): ((path: string) => Promise<T>) => {
  const remembered = new Map<string, { readonly stamp: string; readonly listing: T }>()
  return async (path) => {
    const { main, wal, changedAt } = await lookAtFiles(await realpath(path))
    const stamp = `${main} ${wal}`
    const known = remembered.get(path)
    if (known?.stamp === stamp) return known.listing
    const listing = await list(path)
    if (Date.now() - changedAt > SETTLED_MS) remembered.set(path, { stamp, listing })
    else remembered.delete(path)
    return listing
  }
}
