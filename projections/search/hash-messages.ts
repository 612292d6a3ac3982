import { placeToken, tokensOfValues, valuesOfMessage } from '../../src/server/trace/tokens/filter-tokens.ts'
import { type AddHashes, type HashOf, newHashes, newTextHashes } from '../../src/server/trace/tokens/hashes.ts'
import { textsOfMessage } from '../../src/server/trace/tokens/message-texts.ts'
import type { SearchedText } from '../../src/server/trace/tokens/searched-text.ts'
import { type MessageRow, storedMessage } from '../../src/server/trace/tokens/stored-rows.ts'

/** The maximum number of hashes of a message; the rest is ignored. */
const MOST_HASHES = 100_000

/** Makes hashes with one key. */
export type Hasher = { readonly hashOf: HashOf; readonly addHashes: AddHashes }

export const newHasher = (key: Uint8Array): Hasher => {
  const hashOf = newHashes(key)
  return { hashOf, addHashes: newTextHashes(hashOf) }
}

export const sortedHashes = (hashes: Iterable<number>): Int32Array<ArrayBuffer> => Int32Array.from(hashes).sort()

export const addText = ({ hashOf, addHashes }: Hasher, hashes: Set<number>, text: SearchedText): void => {
  hashes.add(hashOf(placeToken(text)))
  addHashes(hashes, text.text)
}

function* hashesOfMessage(hasher: Hasher, row: MessageRow): Generator<void, Int32Array<ArrayBuffer>> {
  const hashes = new Set(tokensOfValues(valuesOfMessage(row)).map(hasher.hashOf))
  for (const text of textsOfMessage(storedMessage(row))) {
    if (text) addText(hasher, hashes, text)
    if (hashes.size > MOST_HASHES) break
    yield
  }
  return sortedHashes(hashes.values().take(MOST_HASHES))
}

/** The hashes of the words and values of each message, in order. Each step takes a text, so that none takes long. */
export function* hashesInSteps(hasher: Hasher, rows: readonly MessageRow[]): Generator<void, Int32Array[]> {
  const all: Int32Array[] = []
  for (const row of rows) all.push(yield* hashesOfMessage(hasher, row))
  return all
}

/** The same in one step, for a thread. */
export const hashesOfMessages = (hasher: Hasher, rows: readonly MessageRow[]): Int32Array[] => {
  const steps = hashesInSteps(hasher, rows)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
