import { REQUEST_WAIT_MS } from '../../base/waits.ts'
import type { OpenGroup } from '../../eventstore/engine/open-groups.ts'
import { type Row, openReads } from '../../eventstore/engine/reads.ts'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import { type HashOf, type KeyRow, keyStatement, newHashes } from '../trace/tokens/hashes.ts'

/** Reads rows in one snapshot. A statement without a name is not prepared. */
export type ReadRows = <T extends Row>(name: string, text: string, values?: readonly unknown[]) => Promise<T[]>

/** The index, read together with the main read models. Every call may throw `Unavailable`, for example while the index is being built. */
export type SearchReads = {
  /** Runs `work` in one snapshot of the index and the main read models, in which rights are read as well. */
  snapshot<T>(work: (readRows: ReadRows) => Promise<T>): Promise<T>
  /** The hashes of tokens in the index. */
  hashes(readRows: ReadRows): Promise<HashOf>
  /** How far, in milliseconds, the index is behind the events that this node has seen. */
  behindMs(): number
  close(): Promise<void>
}

type SearchReadsOptions = {
  readonly url: string
  /** The group of the index; undefined if this service has none. */
  readonly group: OpenGroup | undefined
  readonly mainSchema: string
  readonly size: number
  readonly head: () => Promise<bigint>
  /** The last position that this node's caches have observed. */
  readonly lastSeen: () => bigint
}

const withoutIndex: SearchReads = {
  snapshot: async () => {
    throw new ExplainedUnavailable('This service runs without a search index: ask its operator for one')
  },
  hashes: async () => () => 0,
  behindMs: () => REQUEST_WAIT_MS,
  close: async () => {},
}

/** Opens a small pool of connections for searches only, so that they delay no other queries. */
export const openSearchReads = (options: SearchReadsOptions): SearchReads => {
  const { url, group, mainSchema, size, head, lastSeen } = options
  if (!group) return withoutIndex
  const { schema, quarantine, lag } = group
  const reads = openReads<object>({ url, schema, name: 'search', size, quarantine, head, lastSeen })
  const begin = `begin isolation level repeatable read read only; set local search_path = ${schema}, ${mainSchema}`
  let hashOf: HashOf | undefined

  const snapshot = <T>(work: (readRows: ReadRows) => Promise<T>) =>
    reads.query(async () => {
      const client = await reads.pool.connect()
      const readRows: ReadRows = async <R extends Row>(name: string, text: string, values: readonly unknown[] = []) =>
        (await client.query<R>({ name, text, values: [...values] })).rows
      try {
        await client.query(begin)
        const result = await work(readRows)
        await client.query('commit')
        client.release()
        return result
      } catch (error) {
        client.release(error as Error)
        throw error
      }
    })

  const hashes = async (readRows: ReadRows) => {
    hashOf ??= newHashes((await readRows<KeyRow>('search-key', keyStatement))[0]!.key)
    return hashOf
  }

  return { snapshot, hashes, behindMs: lag.ms, close: reads.close }
}
