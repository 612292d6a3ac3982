import type { HashedEvent } from './hashed-event.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/** Whether an event may explain that the events before it in its stream are gone. Only streams of traces are erased. */
export const explainsErasure = ({ type, stream }: Pick<HashedEvent, 'type' | 'stream'>): boolean =>
  type === 'TraceDeleted' && stream.startsWith('trace-')

/** Leaves of a stream without their events: how many, and the index of the last one. */
type Missing = { count: number; last: number }

/** Counts the leaves without their events, by stream. */
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
    /** The event of a leaf did not come in its order. */
    add: (leaf: StoredLeaf) => count(leaf, 1),
    /** The event has come later. */
    takeBack: (leaf: StoredLeaf) => count(leaf, -1),
    has: (stream: string) => missing.has(stream),
    /** Forgets the missing events of a stream, if an event explains that they were erased. */
    explainBy: (event: HashedEvent, { index }: StoredLeaf) => {
      const { stream } = event
      if (explainsErasure(event) && (missing.get(stream)?.last ?? Infinity) < index) missing.delete(stream)
    },
    streams: () => missing.keys(),
  }
}
