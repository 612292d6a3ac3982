import type { Step } from '../engine/checkpoint.ts'
import type { RecordedEvent } from '../log/log.ts'
import { newYielding } from '../base/yielding.ts'
import { leafHashOf } from './entry.ts'
import type { Candidate, FoundLeaf, Growth, Leaf } from './leaves.ts'
import type { Walk } from './stored-tree.ts'
import { TreeDiffers } from './tree-differs.ts'
import type { GrowingTree, Subtree } from './tree.ts'

/** An event with the hash of its leaf. */
export type Hashed = { readonly event: RecordedEvent; readonly hash: Buffer }

/** Hashes events, and lets other work go on meanwhile: each may have megabytes. */
export const hashEvents = async (events: readonly RecordedEvent[]): Promise<Hashed[]> => {
  const yieldWhenDue = newYielding()
  const hashed: Hashed[] = []
  for (const event of events) {
    hashed.push({ event, hash: leafHashOf(event) })
    await yieldWhenDue()
  }
  return hashed
}

/** Adds leaves to the tree in memory; gives what is to be stored of them. */
const addLeaves = (tree: GrowingTree, events: readonly Hashed[]): Pick<Growth, 'leaves' | 'subtrees' | 'size'> => {
  const leaves: Leaf[] = []
  const subtrees: Subtree[] = []
  for (const { event, hash } of events) {
    const { id, position, stream, revision } = event
    leaves.push({ index: tree.size(), id, position, stream, revision, hash })
    subtrees.push(...tree.add(hash))
  }
  return { leaves, subtrees, size: tree.size() }
}

/** A step over events that have no leaves yet. */
export const growBy = (tree: GrowingTree, events: readonly Hashed[], step: Step): Growth => ({
  step,
  ...addLeaves(tree, events),
})

type Matched = { readonly found: FoundLeaf[]; readonly fresh: Hashed[]; readonly last: number }

/**
 * Finds the leaves of events in log order. From the first event without a leaf on none is looked for: what follows was appended
 * after the log had lost its end.
 * @throws TreeDiffers when an event is not what its leaf says
 */
const match = (events: readonly Hashed[], candidates: readonly Candidate[], after: number): Matched => {
  const byId = Map.groupBy(candidates, ({ id }) => id)
  const found: FoundLeaf[] = []
  let last = after
  for (const [i, { event, hash }] of events.entries()) {
    const leaf = byId.get(event.id)?.find(({ index }) => index > last)
    if (!leaf) return { found, fresh: events.slice(i), last }
    const { id, stream, revision, position } = event
    if (!leaf.hash.equals(hash))
      throw new TreeDiffers(`${stream} ${revision} (${id}) differs from its leaf ${leaf.index}`)
    found.push({ index: leaf.index, position, revision })
    last = leaf.index
  }
  return { found, fresh: [], last }
}

/** A step of a walk, which is over at its end or with the first event that has no leaf. @throws TreeDiffers */
export const walkOver = (
  tree: GrowingTree,
  events: readonly Hashed[],
  { walk, candidates, step }: { readonly walk: Walk; readonly candidates: readonly Candidate[]; readonly step: Step },
): Growth => {
  const { found, fresh, last } = match(events, candidates, walk.matched)
  const added = addLeaves(tree, fresh)
  const isOver = fresh.length > 0 || step.through >= walk.until
  return isOver
    ? { step, ...added, found, lost: { from: last + 1, to: walk.size } }
    : { step, ...added, found, walk: { ...walk, matched: last } }
}
