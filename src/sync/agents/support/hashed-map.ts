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

/** The entries of a map as text, in the order of their hashes. Without `values` all values are 0. */
export type SavedMap = { readonly hashes: string; readonly values?: string }

/**
 * Maps texts to numbers from 0 to 2^32 - 1. `add` returns false and changes nothing if the text is in the map, `set` changes its
 * number. `save` takes 16 characters for each entry, `saveKeys` 11, and saves 0 as the value of each.
 */
export type HashedMap = {
  readonly get: (text: string) => number | undefined
  readonly add: (text: string, value?: number) => boolean
  readonly set: (text: string, value: number) => void
  readonly save: () => SavedMap
  readonly saveKeys: () => SavedMap
}

const base64Of = ({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** The bytes of a base64 text, in memory of their own, so that arrays of numbers are aligned in it. */
const bytesOf = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text, 'base64')).buffer

/** The saved entries, in the order of their hashes. Unlike slots they need not be built from the text. */
const sortedEntries = (saved: SavedMap | undefined): Slots => {
  if (!saved) return newSlots(0)
  const hashes = new Float64Array(bytesOf(saved.hashes))
  return {
    hashes,
    values: saved.values === undefined ? new Uint32Array(hashes.length) : new Uint32Array(bytesOf(saved.values)),
  }
}

/** The index of the first entry whose hash is at least `hash`. */
const placeOf = (hash: number, { hashes }: Slots): number => {
  let [from, to] = [0, hashes.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (hashes[middle]! < hash) from = middle + 1
    else to = middle
  }
  return from
}

/** The hashes of all `count` taken slots, in order. */
const takenHashes = ({ hashes }: Slots, count: number): Float64Array => {
  const taken = new Float64Array(count)
  let next = 0
  // Not `filter`, which first makes a list of all numbers.
  for (const hash of hashes) if (hash !== 0) taken[next++] = hash
  return taken.sort()
}

/** The hashes of both arrays, in order and without duplicates. */
const mergedHashes = (some: Float64Array, others: Float64Array): Float64Array => {
  if (some.length === 0) return others
  const merged = new Float64Array(some.length + others.length)
  let [count, next] = [0, 0]
  for (const hash of others) {
    while (some[next]! < hash) merged[count++] = some[next++]!
    if (some[next] === hash) next++
    merged[count++] = hash
  }
  merged.set(some.subarray(next), count)
  return merged.subarray(0, count + some.length - next)
}

/**
 * A map, empty or as it was saved, that keeps only a hash of each text. Two different texts have the same hash once in 2^53 times.
 * A session has an entry for each of its messages, and a map of strings takes five times the memory.
 */
export const newHashedMap = (saved?: SavedMap): HashedMap => {
  const before = sortedEntries(saved)
  let slots = newSlots(256)
  let size = 0
  const valueOf = (hash: number): number | undefined => {
    const slot = slotOf(hash, slots)
    if (slots.hashes[slot] !== 0) return slots.values[slot]
    const entry = placeOf(hash, before)
    return before.hashes[entry] === hash ? before.values[entry] : undefined
  }
  const set = (hash: number, value: number): void => {
    const slot = slotOf(hash, slots)
    const isNew = slots.hashes[slot] === 0
    put(slots, slot, hash, value)
    if (isNew && ++size > slots.hashes.length / 2) slots = grown(slots)
  }
  const allHashes = () => mergedHashes(before.hashes, takenHashes(slots, size))
  return {
    get: (text) => valueOf(hashOf(text)),
    add: (text, value = 0) => {
      const hash = hashOf(text)
      if (valueOf(hash) !== undefined) return false
      set(hash, value)
      return true
    },
    set: (text, value) => set(hashOf(text), value),
    save: () => {
      const hashes = allHashes()
      const values = new Uint32Array(hashes.length)
      for (const [entry, hash] of hashes.entries()) values[entry] = valueOf(hash)!
      return { hashes: base64Of(hashes), values: base64Of(values) }
    },
    saveKeys: () => ({ hashes: base64Of(allHashes()) }),
  }
}
