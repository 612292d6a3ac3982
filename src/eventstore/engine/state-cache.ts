import { revisionNumber } from '../log/log.ts'
import { newSizedCache } from './sized-cache.ts'
import type { Loaded } from './stream.ts'

/** States of one kind of stream in memory. Each may be outdated: its stream may have moved on. */
export type StateCache<State> = {
  get(id: string): Loaded<State> | undefined
  /** Caches a state, unless a newer revision of its stream was observed since the call of `track`. */
  set(id: string, loaded: Loaded<State>): void
  delete(id: string): void
  /** Remembers the newest observed revision of this stream, until `untrack`. */
  track(id: string): void
  untrack(id: string): void
  /** Drops the state of a stream if it is of an older revision. */
  observe(id: string, revision: bigint): void
  /** Drops all states, including those that are being loaded. */
  clear(): void
  /** How often it was cleared. */
  generation(): number
}

type StateCacheOptions<State> = {
  /** About how many bytes a state takes in memory. */
  readonly sizeOf: (state: State) => number
  /** How many bytes all states together may take. */
  readonly budget: number
  /** Makes a state small enough to be cached. */
  readonly trim: ((state: State) => State) | undefined
  /** False while this node does not follow the log: then states may be outdated, and none is returned. */
  readonly isCurrent: () => boolean
}

const BEYOND_ALL_REVISIONS = 2n ** 63n

export const newStateCache = <State>(options: StateCacheOptions<State>): StateCache<State> => {
  const { sizeOf, budget, trim, isCurrent } = options
  const cache = newSizedCache<Loaded<State>>(budget, ({ state }) => sizeOf(state))
  const observed = new Map<string, bigint>() // the newest revisions of tracked streams
  let generation = 0

  const set = (id: string, loaded: Loaded<State>) => {
    cache.delete(id)
    if (revisionNumber(loaded.revision) < (observed.get(id) ?? -1n)) return
    cache.set(id, trim ? { ...loaded, state: trim(loaded.state) } : loaded)
  }

  const observe = (id: string, revision: bigint) => {
    if (observed.has(id)) observed.set(id, revision)
    const cached = cache.get(id)
    if (cached && revisionNumber(cached.revision) < revision) cache.delete(id)
  }

  const clear = () => {
    generation += 1
    cache.clear()
    for (const id of observed.keys()) observed.set(id, BEYOND_ALL_REVISIONS)
  }

  return {
    get: (id) => (isCurrent() ? cache.get(id) : undefined),
    set,
    delete: cache.delete,
    track: (id) => void observed.set(id, -1n),
    untrack: (id) => void observed.delete(id),
    observe,
    clear,
    generation: () => generation,
  }
}
