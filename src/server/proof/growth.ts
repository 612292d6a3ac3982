import type { Step } from '../../eventstore/engine/checkpoint.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { newYielding } from '../../base/yielding.ts'
import { leafHashOf } from './entry.ts'
import { type Hashing, openHashing } from './hashing.ts'
import type { Candidate, FoundLeaf, Growth, Leaf } from './leaves.ts'
import { type Reverification, TreeDiffers } from './stored-tree.ts'
import type { GrowingTree, Subtree } from './tree.ts'

/** An event with the hash of its leaf. */
type EventWithHash = { readonly event: RecordedEvent; readonly hash: Buffer }

/** The most characters of a batch that are hashed on the event loop, in less than a millisecond. Larger batches are hashed on a thread. */
const MOST_INLINE = 64 * 1024

const NO_HASH = Buffer.alloc(0)

/** Hashes events, those of large batches on a thread of lower priority, which is started for the first of them. */
export const newEventHashing = () => {
  let thread: Hashing | undefined

  const onThread = async (events: readonly RecordedEvent[]) => {
    thread ??= openHashing()
    const yieldWhenDue = newYielding()
    const slots = events.map((event) => ({ event, hash: NO_HASH }))
    for (const slot of slots) {
      const { id, stream, type, metadata, data } = slot.event
      thread.add([id, stream, type, metadata, data], slot)
      if (thread.isFull()) void thread.send()
      await yieldWhenDue()
    }
    await thread.send()
    return slots
  }

  return {
    hash: async (events: readonly RecordedEvent[]) => {
      const length = events.reduce((sum, { metadata, data }) => sum + metadata.length + data.length, 0)
      if (length > MOST_INLINE) return onThread(events)
      return events.map((event) => ({ event, hash: leafHashOf(event) }))
    },
    close: async () => thread?.close(),
  }
}

export type EventHashing = ReturnType<typeof newEventHashing>

/** Adds leaves to the tree in memory, and returns what has to be stored of them. */
const addLeaves = (
  tree: GrowingTree,
  events: readonly EventWithHash[],
): Pick<Growth, 'leaves' | 'subtrees' | 'size'> => {
  const leaves: Leaf[] = []
  const subtrees: Subtree[] = []
  for (const { event, hash } of events) {
    const { id, position, stream, revision } = event
    leaves.push({ index: tree.size(), id, position, stream, revision, hash })
    subtrees.push(...tree.add(hash))
  }
  return { leaves, subtrees, size: tree.size() }
}

/** The growth of the tree by a batch of events, none of which has a leaf. */
export const growBy = (tree: GrowingTree, events: readonly EventWithHash[], step: Step): Growth => ({
  step,
  ...addLeaves(tree, events),
})

/** The leaves that events have, the events without leaves, and the index of the last leaf that was found. */
type MatchResult = { readonly found: FoundLeaf[]; readonly fresh: EventWithHash[]; readonly last: number }

/**
 * Finds the leaves of events in log order. After the first event without a leaf it stops searching: the later events were appended
 * after the log had lost its end.
 * @throws TreeDiffers if an event differs from its leaf
 */
const match = (events: readonly EventWithHash[], candidates: readonly Candidate[], after: number): MatchResult => {
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

/** A step of a re-verification, which ends at its goal or with the first event without a leaf. @throws TreeDiffers */
export const reverify = (
  tree: GrowingTree,
  events: readonly EventWithHash[],
  {
    reverification,
    candidates,
    step,
  }: { readonly reverification: Reverification; readonly candidates: readonly Candidate[]; readonly step: Step },
): Growth => {
  const { found, fresh, last } = match(events, candidates, reverification.matched)
  const added = addLeaves(tree, fresh)
  const isOver = fresh.length > 0 || step.through >= reverification.until
  return isOver
    ? { step, ...added, found, lost: { from: last + 1, to: reverification.size } }
    : { step, ...added, found, reverification: { ...reverification, matched: last } }
}
