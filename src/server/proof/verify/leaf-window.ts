import type { StoredLeaf } from './leaf-rows.ts'

/** How many next leaves are loaded together; half as many passed leaves stay in memory. */
const ENOUGH = 20_000

/** Leaves in their order. In memory are only the next ones, and those that were just passed. */
export type LeafWindow = {
  /** The next leaf; undefined at the end. Loads more if needed. */
  next(): Promise<StoredLeaf | undefined>
  /** The next leaf if it is in memory. */
  peek(): StoredLeaf | undefined
  /** Moves past the next leaf. */
  pass(): void
  /** Moves to a leaf in memory, forwards or backwards. */
  goTo(place: number): void
  /** The place in memory of the next leaf. */
  place(): number
  /** The place in memory of the leaf of an event; undefined if it is not in memory. */
  placeOf(id: string): number | undefined
  leafAt(place: number): StoredLeaf
}

/** `onLoad` is called once with each leaf, in their order. */
export const newLeafWindow = (
  source: AsyncIterable<readonly StoredLeaf[]>,
  onLoad: (leaf: StoredLeaf) => void,
): LeafWindow => {
  const pieces = source[Symbol.asyncIterator]()
  let leaves: StoredLeaf[] = []
  let nextPlace = 0
  let isOver = false
  let places: Map<string, number> | undefined

  const load = async () => {
    const kept = leaves.slice(Math.max(0, nextPlace - ENOUGH / 2))
    nextPlace -= leaves.length - kept.length
    leaves = kept
    places = undefined
    while (!isOver && leaves.length - nextPlace < ENOUGH) {
      const { value, done } = await pieces.next()
      if (done) isOver = true
      else
        for (const leaf of value) {
          onLoad(leaf)
          leaves.push(leaf)
        }
    }
  }

  const next = async () => {
    if (nextPlace >= leaves.length && !isOver) await load()
    return leaves[nextPlace]
  }

  const placeOf = (id: string) => {
    // Lost leaves are left out, because the same event may have another leaf.
    places ??= new Map(leaves.flatMap(({ id, lost }, i) => (lost === undefined ? [[id, i] as const] : [])))
    return places.get(id)
  }

  return {
    next,
    peek: () => leaves[nextPlace],
    pass: () => void (nextPlace += 1),
    goTo: (place) => void (nextPlace = place),
    place: () => nextPlace,
    placeOf,
    leafAt: (place) => leaves[place]!,
  }
}
