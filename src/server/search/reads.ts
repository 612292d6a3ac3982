import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import { type Snapshots, type SnapshotsOptions, openSnapshots } from '../../eventstore/engine/snapshots.ts'
import { type HashOf, type KeyRow, keyStatement, newHashes } from '../trace/tokens/hashes.ts'

export type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'

/** The index, read together with the main read models, from which rights are read as well. */
export type SearchReads = Snapshots & {
  /** The hashes of tokens in the index. */
  hashes(readRows: ReadRows): Promise<HashOf>
}

/** Opens a small pool of connections for searches only, so that they delay no other queries. */
export const openSearchReads = (options: SnapshotsOptions): SearchReads => {
  const snapshots = openSnapshots(options, {
    name: 'search',
    missing: 'This service runs without a search index: ask its operator for one',
  })
  let hashOf: HashOf | undefined
  const hashes = async (readRows: ReadRows) => {
    hashOf ??= newHashes((await readRows<KeyRow>('search-key', keyStatement))[0]!.key)
    return hashOf
  }
  return { ...snapshots, hashes }
}
