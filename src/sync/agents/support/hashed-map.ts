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

/** The entries of a map as text: their hashes, and their values unless all are 0. */
export type SavedMap = { readonly hashes: string; readonly values?: string }

/**
 * Numbers from 0 to 2^32 - 1, by texts. `add` is false, and changes nothing, for a text that has a number; `set` changes it. `save`
 * gives all entries, each of 11 characters, or 16 with values; `saveKeys` with 0 for each value.
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

/** The bytes of a text in base64, in memory of their own, where numbers of any size may begin. */
const bytesOf = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text, 'base64')).buffer

const saveEntries = ({ hashes, values }: Slots, size: number, withValues: boolean): SavedMap => {
  const entries = newSlots(size)
  let entry = 0
  for (let slot = 0; slot < hashes.length; slot++)
    if (hashes[slot] !== 0) put(entries, entry++, hashes[slot]!, values[slot]!)
  return { hashes: base64Of(entries.hashes), ...(withValues ? { values: base64Of(entries.values) } : {}) }
}

const restored = (saved: SavedMap): { readonly slots: Slots; readonly size: number } => {
  const hashes = new Float64Array(bytesOf(saved.hashes))
  const values = saved.values === undefined ? undefined : new Uint32Array(bytesOf(saved.values))
  const slots = newSlots(Math.max(64, 2 ** Math.ceil(Math.log2(hashes.length * 2 + 1))))
  for (const [entry, hash] of hashes.entries()) put(slots, slotOf(hash, slots), hash, values?.[entry] ?? 0)
  return { slots, size: hashes.length }
}

/**
 * A map, empty or as it was saved, which keeps only a hash of each text: of two different ones it may say, once in 2^53 times, that
 * they are the same. A session has an entry for each of its messages, and a map of strings takes five times the memory.
 */
export const newHashedMap = (saved?: SavedMap): HashedMap => {
  let { slots, size } = saved ? restored(saved) : { slots: newSlots(64), size: 0 }
  const insert = (slot: number, hash: number, value: number): void => {
    put(slots, slot, hash, value)
    if (++size > slots.hashes.length / 2) slots = grown(slots)
  }
  return {
    get: (text) => {
      const slot = slotOf(hashOf(text), slots)
      return slots.hashes[slot] === 0 ? undefined : slots.values[slot]
    },
    add: (text, value = 0) => {
      const hash = hashOf(text)
      const slot = slotOf(hash, slots)
      if (slots.hashes[slot] !== 0) return false
      insert(slot, hash, value)
      return true
    },
    set: (text, value) => {
      const hash = hashOf(text)
      const slot = slotOf(hash, slots)
      if (slots.hashes[slot] === 0) insert(slot, hash, value)
      else slots.values[slot] = value
    },
    save: () => saveEntries(slots, size, true),
    saveKeys: () => saveEntries(slots, size, false),
  }
}
