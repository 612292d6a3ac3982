import { createHmac } from 'node:crypto'
import { BoundedMap } from '../../base/bounded-map.ts'

/**
 * The number that stands for a token in the index: 32 bits that nobody can compute, or guess words from, without the key. Different
 * tokens may have the same one.
 */
export type HashOf = (token: string) => number

/** So many hashes are remembered: most words of a text are frequent ones. */
const MOST_REMEMBERED = 50_000
/** Longer tokens are computed anew, so that what is remembered stays small. */
const LONGEST_REMEMBERED = 40

export const newHashes = (key: Uint8Array): HashOf => {
  const known = new BoundedMap<string, number>(MOST_REMEMBERED)
  return (token) => {
    const found = known.get(token)
    if (found !== undefined) return found
    const hash = createHmac('sha256', key).update(token).digest().readInt32BE(0)
    if (token.length <= LONGEST_REMEMBERED) known.set(token, hash)
    return hash
  }
}

export type KeyRow = { key: Buffer }

/** SQL for the key, which is made once for a database. */
export const keyStatement = 'select key from tracebook.search_key'
