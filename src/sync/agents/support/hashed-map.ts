/** 53 bits of a hash of a text, as a number that is not 0. */
export const hashOf = (text: string): number => {
  let high = 0x9e3779b9
  let low = 0x85ebca6b
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 0x27d4eb2f)
    low = Math.imul(low ^ code, 0x165667b1)
  }
  high = Math.imul(high ^ (high >>> 15), 0xc2b2ae35) ^ (low >>> 13)
  low = Math.imul(low ^ (low >>> 13), 0x27d4eb2f) ^ (high >>> 16)
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1
}

/** A hash and a value in each slot; a hash of 0 is a free slot. */
type Slots = { readonly hashes: Float64Array; readonly values: Uint32Array }

const newSlots = (length: number): Slots => ({ hashes: new Float64Array(length), values: new Uint32Array(length) })

/** The slot of a hash, or the free one where it belongs: the first from its own on. */
const slotOf = (hash: number, { hashes }: Slots): number => {
  let slot = hash % hashes.length
  while (hashes[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) % hashes.length
  return slot
}

const put = (slots: Slots, slot: number, hash: number, value: number): void => {
  slots.hashes[slot] = hash
  slots.values[slot] = value
}

const grown = (slots: Slots): Slots => {
  const larger = newSlots(slots.hashes.length * 2)
  for (const [slot, hash] of slots.hashes.entries())
    if (hash !== 0) put(larger, slotOf(hash, larger), hash, slots.values[slot]!)
  return larger
}

/** Numbers from 0 to 2^32 - 1, by texts. `add` is false, and changes nothing, for a text that has a number. */
export type HashedMap = {
  readonly get: (text: string) => number | undefined
  readonly add: (text: string, value?: number) => boolean
}

/**
 * An empty map, which keeps only a hash of each text: of two different ones it may say, once in 2^53 times, that they are the
 * same. A session has an entry for each of its messages, and a map of strings takes five times the memory.
 */
export const newHashedMap = (): HashedMap => {
  let slots = newSlots(64)
  let size = 0
  return {
    get: (text) => {
      const slot = slotOf(hashOf(text), slots)
      return slots.hashes[slot] === 0 ? undefined : slots.values[slot]
    },
    add: (text, value = 0) => {
      const hash = hashOf(text)
      const slot = slotOf(hash, slots)
      if (slots.hashes[slot] !== 0) return false
      put(slots, slot, hash, value)
      if (++size > slots.hashes.length / 2) slots = grown(slots)
      return true
    },
  }
}
