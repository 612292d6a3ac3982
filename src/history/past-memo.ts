import { BoundedMap } from '../base/bounded-map.ts'
import type { DecodedEvent } from '../engine/projection.ts'
import { type WeightedCache, newWeightedCache } from '../engine/weighted-cache.ts'
import type { PresentTrace } from '../trace/decide.ts'
import { type TraceTimes, stateText } from '../trace/views.ts'
import type { Updates } from './updates.ts'

/** A trace as it was. */
type Moment = { readonly id: string; readonly incarnation: bigint; readonly revision: bigint }

type Remembered<Value> = { get(): Value | undefined; set(value: Value): void }

/** What has been made of a trace as it was. */
export type MomentMemo = {
  /** The ordinals of its messages in the order that they had. */
  readonly sortedOrdinals: Remembered<Int32Array>
  readonly updates: Remembered<Updates>
  /** When it began and ended, where messages have moved since. */
  readonly times: Remembered<TraceTimes>
  /** The trace, where it was folded from very many events. */
  readonly trace: Remembered<PresentTrace>
}

/**
 * What has been made of the past with much work. It never changes, so the next page of a list, or another answer about the same
 * revision, takes it from here. Only who may see that past now asks for it. Of a deleted trace nothing is kept.
 */
export type PastMemo = {
  /** Called before the work begins: what was begun before a deletion or a `clear`, and is set after it, is not kept. */
  of(moment: Moment): MomentMemo
  observe(event: Pick<DecodedEvent, 'type' | 'streamId' | 'revision'>): void
  /** Called when deletions may have been missed, or the log is another one: the same revisions may be other events then. */
  clear(): void
}

const MOST_BYTES = 8 * 1024 * 1024
/** Of each value, besides what it holds. */
const ENTRY_BYTES = 500
/** More than there are while one answer is made. */
const REMEMBERED_DELETIONS = 1_000

const newMomentCache = <Value>(weigh: (value: Value) => number) =>
  newWeightedCache<Value>(MOST_BYTES, (value) => ENTRY_BYTES + weigh(value))

export const newPastMemo = (): PastMemo => {
  const sortedOrdinals = newMomentCache<Int32Array>(({ byteLength }) => byteLength)
  const updates = newMomentCache<Updates>(({ bytes }) => bytes)
  const times = newMomentCache<TraceTimes>(() => 0)
  const traces = newMomentCache<PresentTrace>((trace) => 4 * stateText('', '', trace, {}).length)
  const caches = [sortedOrdinals, updates, times, traces]
  const deletions = new BoundedMap<string, bigint>(REMEMBERED_DELETIONS) // their revisions, by trace
  let generation = 0

  const of = ({ id, incarnation, revision }: Moment): MomentMemo => {
    const begun = generation
    const mayKeep = () => begun === generation && (deletions.get(id) ?? -1n) < incarnation
    const remembered = <Value>(cache: WeightedCache<Value>): Remembered<Value> => {
      const key = `${id}/${incarnation}/${revision}`
      return { get: () => cache.get(key), set: (value) => void (mayKeep() && cache.set(key, value)) }
    }
    return {
      sortedOrdinals: remembered(sortedOrdinals),
      updates: remembered(updates),
      times: remembered(times),
      trace: remembered(traces),
    }
  }

  const observe: PastMemo['observe'] = ({ type, streamId, revision }) => {
    if (type !== 'TraceDeleted') return
    deletions.delete(streamId) // so that it is the newest
    deletions.set(streamId, revision)
    for (const cache of caches) cache.deleteAll((key) => key.startsWith(`${streamId}/`))
  }

  const clear = () => {
    generation += 1
    deletions.clear()
    for (const cache of caches) cache.clear()
  }

  return { of, observe, clear }
}
