/** A hash of a text: a number of 53 bits that is not 0. */
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

/** A hash and a value in each slot; a hash of 0 is a free slot. The number of slots is a power of two. */
type Slots = { readonly hashes: Float64Array; readonly values: Uint32Array }

const newSlots = (length: number): Slots => ({ hashes: new Float64Array(length), values: new Uint32Array(length) })

/** The slot that holds a hash, or else the free slot for it. */
const slotOf = (hash: number, { hashes }: Slots): number => {
  const last = hashes.length - 1
  let slot = (hash >>> 0) & last
  while (hashes[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) & last
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

/**
 * Maps texts to numbers from 0 to 2^32 - 1. `add` returns false and changes nothing if the text is in the map, `set` changes its
 * number.
 */
export type HashedMap = {
  readonly get: (text: string) => number | undefined
  readonly add: (text: string, value?: number) => boolean
  readonly set: (text: string, value: number) => void
}

/**
 * A map that keeps only a hash of each text. Two different texts have the same hash once in 2^53 times. A session has an entry for each of its
 * messages, and a map of strings takes five times the memory.
 */
export const newHashedMap = (): HashedMap => {
  let slots = newSlots(32)
  let size = 0
  const valueOf = (hash: number): number | undefined => {
    const slot = slotOf(hash, slots)
    return slots.hashes[slot] === 0 ? undefined : slots.values[slot]
  }
  const set = (hash: number, value: number): void => {
    const slot = slotOf(hash, slots)
    const isNew = slots.hashes[slot] === 0
    put(slots, slot, hash, value)
    if (isNew && ++size > slots.hashes.length / 2) slots = grown(slots)
  }
  return {
    get: (text) => valueOf(hashOf(text)),
    add: (text, value = 0) => {
      const hash = hashOf(text)
      if (valueOf(hash) !== undefined) return false
      set(hash, value)
      return true
    },
    set: (text, value) => set(hashOf(text), value),
  }
}
