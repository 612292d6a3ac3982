import { type WeightedCache, newWeightedCache } from '../engine/weighted-cache.ts'
import type { PresentTrace } from '../trace/decide.ts'
import { stateText } from '../trace/views.ts'
import type { Updates } from './updates.ts'

/**
 * What has been made of the past with much work. It never changes, so the next page of a list, or another answer about the same
 * revision, takes it from here. Only who may see that past now asks for it.
 */
export type PastMemo = {
  /** The ordinals of messages in the order that they had. */
  readonly sortedOrdinals: WeightedCache<Int32Array>
  readonly updates: WeightedCache<Updates>
  /** Traces that were folded from very many events. */
  readonly traces: WeightedCache<PresentTrace>
  /** Called when the log is another one: the same revisions may be other events then. */
  clear(): void
}

const MOST_BYTES = 8 * 1024 * 1024

export const newPastMemo = (): PastMemo => {
  const sortedOrdinals = newWeightedCache<Int32Array>(MOST_BYTES, ({ byteLength }) => byteLength)
  const updates = newWeightedCache<Updates>(MOST_BYTES, ({ bytes }) => bytes)
  const traces = newWeightedCache<PresentTrace>(MOST_BYTES, (trace) => 4 * stateText('', '', trace).length)
  const clear = () => {
    for (const cache of [sortedOrdinals, updates, traces]) cache.clear()
  }
  return { sortedOrdinals, updates, traces, clear }
}

type Moment = { readonly id: string; readonly incarnation: bigint; readonly revision: bigint }

/** A trace as it was, for the caches of a memo. */
export const memoKey = ({ id, incarnation, revision }: Moment): string => `${id}/${incarnation}/${revision}`
