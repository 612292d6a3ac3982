import type { HashedEvent } from './hashed-event.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/** Above any revision: leaves of erased events keep their revisions in a copy of the log, where the deletion may have a lower one. */
const ANY_REVISION = 2n ** 63n

/**
 * The revision before which an event explains that its stream lacks events; undefined for an event that explains nothing. Only
 * streams of traces are erased, by a deletion all of what was before.
 */
export const erasedBefore = ({
  type,
  stream,
  since,
}: Pick<HashedEvent, 'type' | 'stream' | 'since'>): bigint | undefined => {
  if (!stream.startsWith('trace-')) return undefined
  return type === 'TraceDeleted' ? ANY_REVISION : since
}

/** Leaves of a stream without their events: how many, and the index and the revision of the last one. */
type Missing = { count: number; last: number; revision: bigint }

/** Counts the leaves without their events, by stream. */
export const newMissingCounts = () => {
  const missing = new Map<string, Missing>()

  const count = ({ stream, index, revision }: StoredLeaf, by: 1 | -1) => {
    const known = missing.get(stream) ?? { count: 0, last: index, revision }
    known.count += by
    known.last = Math.max(known.last, index)
    if (revision > known.revision) known.revision = revision
    if (known.count > 0) missing.set(stream, known)
    else missing.delete(stream)
  }

  return {
    /** The event of a leaf did not come in its order. */
    add: (leaf: StoredLeaf) => count(leaf, 1),
    /** The event has come later. */
    takeBack: (leaf: StoredLeaf) => count(leaf, -1),
    has: (stream: string) => missing.has(stream),
    /** Forgets the missing events of a stream, if an event explains that they were erased. */
    explainBy: (event: HashedEvent, { index }: StoredLeaf) => {
      const before = erasedBefore(event)
      const known = missing.get(event.stream)
      if (before !== undefined && known && known.last < index && known.revision < before) missing.delete(event.stream)
    },
    streams: () => missing.keys(),
  }
}
