import { BoundedMap } from '../../base/bounded-map.ts'
import type { DecodedEvent } from '../../eventstore/engine/projection.ts'
import { type SizedCache, newSizedCache } from '../../eventstore/engine/sized-cache.ts'
import type { PresentTrace } from '../trace/state.ts'
import { type TraceTimes, stateText } from '../trace/views.ts'
import type { PastNumbers } from './past-usage.ts'
import type { Updates } from './updates.ts'

/** Names a trace at a moment. */
type MomentKey = { readonly id: string; readonly incarnation: bigint; readonly revision: bigint }

type Remembered<Value> = { get(): Value | undefined; set(value: Value): void }

/** Results about a trace at a moment. */
type MomentMemo = {
  /** The ordinals of its messages, in their order at that time. */
  readonly sortedOrdinals: Remembered<Int32Array>
  readonly updates: Remembered<Updates>
  /** The first and the last timestamp of its messages, if messages have moved since. */
  readonly times: Remembered<TraceTimes>
  /** The shape of its session and what its messages had used, as JSON texts. */
  readonly numbers: Remembered<PastNumbers>
  /** The trace, if it was folded from very many events. */
  readonly trace: Remembered<PresentTrace>
}

const MOST_BYTES = 8 * 1024 * 1024
/** The size of each value besides its content. */
const ENTRY_BYTES = 500
/** How many deletions are remembered: more than happen while one answer is made. */
const REMEMBERED_DELETIONS = 1_000

const newMomentCache = <Value>(sizeOf: (value: Value) => number) =>
  newSizedCache<Value>(MOST_BYTES, (value) => ENTRY_BYTES + sizeOf(value))

/**
 * Expensive results about the past. The past never changes, so the next page of a list, or another answer about the same revision, gets
 * them from here. Access is checked before. Nothing of a deleted trace or an erased past is kept.
 */
export const newPastMemo = () => {
  const sortedOrdinals = newMomentCache<Int32Array>(({ byteLength }) => byteLength)
  const updates = newMomentCache<Updates>(({ bytes }) => bytes)
  const times = newMomentCache<TraceTimes>(() => 0)
  const numbers = newMomentCache<PastNumbers>(({ shape, used }) => shape.length + used.length)
  const traces = newMomentCache<PresentTrace>((trace) => 4 * stateText('', '', trace, {}).length)
  const caches = [sortedOrdinals, updates, times, numbers, traces]
  const deletions = new BoundedMap<string, bigint>(REMEMBERED_DELETIONS) // their revisions, by trace
  let generation = 0

  /** Called before the work begins: a result that is set after a deletion or a `clear` is not kept. */
  const of = ({ id, incarnation, revision }: MomentKey): MomentMemo => {
    const begun = generation
    const mayKeep = () => begun === generation && (deletions.get(id) ?? -1n) < incarnation
    const remembered = <Value>(cache: SizedCache<Value>): Remembered<Value> => {
      const key = `${id}/${incarnation}/${revision}`
      return { get: () => cache.get(key), set: (value) => void (mayKeep() && cache.set(key, value)) }
    }
    return {
      sortedOrdinals: remembered(sortedOrdinals),
      updates: remembered(updates),
      times: remembered(times),
      numbers: remembered(numbers),
      trace: remembered(traces),
    }
  }

  const observe = (event: Pick<DecodedEvent, 'type' | 'streamId' | 'revision'> & { readonly data?: object }) => {
    const { type, streamId, revision } = event
    if (type !== 'TraceDeleted' && type !== 'HistoryErased') return
    deletions.delete(streamId) // so that it is the newest
    // After an erased past the incarnation begins with the restated messages before the event.
    deletions.set(streamId, type === 'TraceDeleted' ? revision : BigInt((event.data as { since: number }).since) - 1n)
    for (const cache of caches) cache.deleteAll((key) => key.startsWith(`${streamId}/`))
  }

  /** Called if deletions may have been missed. */
  const clear = () => {
    generation += 1
    deletions.clear()
    for (const cache of caches) cache.clear()
  }

  return { of, observe, clear }
}

export type PastMemo = ReturnType<typeof newPastMemo>
