import { setTimeout } from 'node:timers/promises'
import type { Record } from './store.ts'

type Hidden = { readonly stream: string; readonly position: bigint; ofStream: number; ofAll: number }

/**
 * A server checks revisions against what it has written, and reads from an index that comes after that: an event may be
 * named by a conflict, or be acknowledged to another client, before a read sees it.
 */
export const newVisibility = (readableAfterMs = 0) => {
  const next = new Map<string, number>()
  let hidden: Hidden[] = []
  let indexing: bigint[] = []

  const before = (records: readonly Record[], positions: readonly bigint[]) => {
    if (positions.length === 0) return records
    const bound = positions.reduce((least, position) => (position < least ? position : least))
    const last = records.findLastIndex(({ position }) => position < bound)
    return records.slice(0, last + 1)
  }

  /** Counts a read, and gives where what it does not see begins. */
  const counted = (which: 'ofStream' | 'ofAll', concerned: readonly Hidden[]) => {
    const active = concerned.filter((each) => each[which] > 0)
    for (const each of active) each[which] -= 1
    hidden = hidden.filter(({ ofStream, ofAll }) => ofStream > 0 || ofAll > 0)
    return active.map(({ position }) => position)
  }

  return {
    /** The next append to a stream is not seen by so many reads of it, nor by as many of `$all`. */
    hideNext: (stream: string, reads: number) => void next.set(stream, reads),

    /** For the server: resolves when what was stored can be read, as far as time has to pass. */
    stored: async ([first]: readonly Record[]): Promise<void> => {
      if (!first) return
      const { stream, position } = first
      const reads = next.get(stream) ?? 0
      next.delete(stream)
      if (reads > 0) hidden.push({ stream, position, ofStream: reads, ofAll: reads })
      if (readableAfterMs === 0) return
      indexing.push(position)
      await setTimeout(readableAfterMs)
      indexing = indexing.filter((each) => each !== position)
    },
    /** What a read of a stream sees; nothing at all when it does not know the stream yet. */
    ofStream: (name: string, records: readonly Record[] | undefined): readonly Record[] | undefined => {
      const bounds = counted(
        'ofStream',
        hidden.filter(({ stream }) => stream === name),
      )
      const seen = records && before(records, [...bounds, ...indexing])
      return seen?.length === 0 && records!.length > 0 ? undefined : seen
    },
    /** What subscriptions see: they come after the index, too. */
    indexed: (records: readonly Record[]): readonly Record[] => before(records, indexing),
    ofAll: (records: readonly Record[]): readonly Record[] =>
      before(records, [...counted('ofAll', hidden), ...indexing]),
  }
}

export type Visibility = ReturnType<typeof newVisibility>
