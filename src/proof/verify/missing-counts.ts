import type { HashedEvent } from './hashed-event.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/** Whether an event may explain that those before it in its stream are gone. Streams of other kinds are never erased. */
export const explainsErasure = ({ type, stream }: Pick<HashedEvent, 'type' | 'stream'>): boolean =>
  type === 'TraceDeleted' && stream.startsWith('trace-')

/** Leaves of a stream whose events did not come: how many, and the index of the last one. */
type Missing = { count: number; last: number }

/** Counts, stream by stream, the leaves whose events did not come. */
export const newMissingCounts = () => {
  const missing = new Map<string, Missing>()

  const count = ({ stream, index }: StoredLeaf, by: 1 | -1) => {
    const known = missing.get(stream) ?? { count: 0, last: index }
    known.count += by
    known.last = Math.max(known.last, index)
    if (known.count > 0) missing.set(stream, known)
    else missing.delete(stream)
  }

  return {
    /** The event of a leaf did not come where it should have. */
    add: (leaf: StoredLeaf) => count(leaf, 1),
    /** It has come after all. */
    takeBack: (leaf: StoredLeaf) => count(leaf, -1),
    has: (stream: string) => missing.has(stream),
    /** Forgets what is missing of a stream, where an event explains that all of it was erased. */
    explainBy: (event: HashedEvent, { index }: StoredLeaf) => {
      const { stream } = event
      if (explainsErasure(event) && (missing.get(stream)?.last ?? Infinity) < index) missing.delete(stream)
    },
    streams: () => missing.keys(),
  }
}
