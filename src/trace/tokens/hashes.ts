import { hash } from 'node:crypto'
import { memo } from '../../base/memo.ts'
import { eachWord, tokensOf } from './words.ts'

/**
 * The number that stands for a token in the index: 32 bits that nobody can compute, or guess words from, without the key. Different
 * tokens may have the same one.
 */
export type HashOf = (token: string) => number

/** Of a hash so few bits are used that nobody can go on with it: the key before the text is as good as an HMAC, in a fifth of its time. */
export const newHashes = (key: Uint8Array): HashOf => {
  const prefix = Buffer.from(key).toString('hex')
  return (token) => Number.parseInt(hash('sha256', prefix + token, 'hex').slice(0, 8), 16) | 0
}

/** So many words are remembered, twice at most: most of a text are frequent ones. */
const MOST_REMEMBERED = 40_000

/** Adds the hashes of all that a text is found by. */
export type AddHashes = (found: Set<number>, text: string) => void

export const newTextHashes = (hashOf: HashOf): AddHashes => {
  const hashesOf = memo(MOST_REMEMBERED, (word) => tokensOf(word, false).map(hashOf))
  return (found, text) =>
    eachWord(text, (word, isCjk) => {
      for (const each of isCjk ? tokensOf(word, true).map(hashOf) : hashesOf(word)) found.add(each)
    })
}

export type KeyRow = { key: Buffer }

/** SQL for the key, which is made once for a database. */
export const keyStatement = 'select key from tracebook.search_key'
