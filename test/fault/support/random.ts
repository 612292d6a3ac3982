/** Random choices that a seed determines. */
export type Random = {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

/** The generator is mulberry32: small, and good enough to choose what to break. */
export const newRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number) => Math.floor(next() * below)
  return { int, chance: (probability) => next() < probability, pick: (items) => items[int(items.length)]! }
}
