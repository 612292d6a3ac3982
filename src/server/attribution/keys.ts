import { keyIdOf, newLineKey } from '../../base/line-hashes.ts'
import { operationalQuery } from '../../eventstore/engine/reads.ts'
import type { FairPool } from '../../eventstore/postgres/fair-pool.ts'
import { type LineKeyRow, lineKeysStatement, lineKeysToMake, makeLineKeys } from '../trace/line-keys.ts'

/** The key with which the lines of a namespace are hashed. */
export type LineKey = { readonly id: string; readonly secret: Buffer }

/** The keys of namespaces, each made when it is first needed. */
export type LineKeys = { readonly of: (namespaceId: string) => Promise<LineKey> }

const query = async (pool: FairPool, name: string, text: string, values: readonly unknown[]) =>
  (await operationalQuery(pool.query<LineKeyRow>({ name, text, values: [...values] }))).rows

export const newLineKeys = (pool: FairPool): LineKeys => {
  const stored = async (namespaceId: string) =>
    (await query(pool, 'attribution-keys', lineKeysStatement, [[namespaceId]]))[0]?.secret
  const make = async (namespaceId: string) => {
    await query(pool, 'attribution-new-keys', makeLineKeys, lineKeysToMake([namespaceId], newLineKey))
    return stored(namespaceId)
  }
  return {
    of: async (namespaceId) => {
      const secret = (await stored(namespaceId)) ?? (await make(namespaceId))!
      return { id: keyIdOf(secret), secret }
    },
  }
}
