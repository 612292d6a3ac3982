import { type Anchor, type EventLog, type ExpectedRevision, WrongRevision, revisionNumber } from '../log/log.ts'
import type { StateCache } from './state-cache.ts'
import { type Loaded, streamName } from './stream.ts'

/** Where states are loaded from when the cache has none: the log, or read models with the revision of their rows. */
export type StateSource<State, Need> = {
  /** The state with at least what `needs` name, all of one revision, which read models show at the position `shown`. */
  load(id: string, needs: readonly Need[], shown: bigint): Promise<Loaded<State>>
  /** For sources that load a state in parts, as they are needed. Default: a command that needs a part has it loaded anew. */
  readonly parts?: {
    /** Whether a state has what a command needs. */
    covers(state: State, need: Need): boolean
    /** Adds to a state what was loaded of the same revision. */
    add(state: State, loaded: State): void
  }
  /** Whether states come from the log itself, so that each is its stream's newest at the time when it is loaded. */
  readonly readsLog?: boolean
}

export type LoadedState<State> = {
  readonly loaded: Loaded<State>
  /** Whether it was read from the log, and so was the stream's newest state, not a hint from memory or read models. */
  readonly isNewest: boolean
}

export type StateLoader<State, Need> = {
  /**
   * The state with what `needs` name, at the revision `reached` that the stream is known to have, or a later one.
   * @throws WrongRevision while it cannot be loaded
   */
  loadAt(id: string, needs: readonly Need[], reached: ExpectedRevision): Promise<LoadedState<State>>
  /**
   * For decisions that append nothing: no append checks their revision. Gives the stream's last event.
   * @throws WrongRevision when the stream has moved
   */
  assertNewest(id: string, loaded: Loaded<State>): Promise<Anchor | undefined>
}

export type StateLoaderOptions<State, Need> = {
  readonly kind: { readonly category: string }
  readonly source: StateSource<State, Need>
  readonly log: Pick<EventLog, 'read' | 'last'>
  readonly cache: Pick<StateCache<State>, 'get'>
}

/** Loads the states that commands are decided on, from memory where it has what they need. */
export const newStateLoader = <State, Need>(options: StateLoaderOptions<State, Need>): StateLoader<State, Need> => {
  const { kind, source, log, cache } = options

  /**
   * Adds to the state in memory what it lacks. Where another node has moved the stream since, the parts that it has are those
   * of another revision: then all that is needed is loaded.
   */
  const complete = async (id: string, needs: readonly Need[], cached: Loaded<State>): Promise<Loaded<State>> => {
    const missing = needs.filter((need) => !source.parts?.covers(cached.state, need))
    if (missing.length === 0) return cached
    const loaded = await source.load(id, missing, cached.position)
    if (loaded.revision !== cached.revision)
      return missing.length === needs.length ? loaded : source.load(id, needs, cached.position)
    if (!source.parts) return loaded
    source.parts.add(cached.state, loaded.state)
    return cached
  }

  const load = async (id: string, needs: readonly Need[]): Promise<LoadedState<State>> => {
    const cached = cache.get(id)
    const loaded = cached ? await complete(id, needs, cached) : await source.load(id, needs, 0n)
    return { loaded, isNewest: loaded !== cached && (source.readsLog ?? false) }
  }

  const hasEventsAfter = async (stream: string, revision: ExpectedRevision) => {
    for await (const _ of log.read(stream, { from: revisionNumber(revision) + 1n, limit: 1 })) return true
    return false
  }

  const loadAt = async (id: string, needs: readonly Need[], reached: ExpectedRevision): Promise<LoadedState<State>> => {
    const found = await load(id, needs)
    const { loaded } = found
    if (revisionNumber(loaded.revision) >= revisionNumber(reached)) return found
    const stream = streamName(kind, id)
    const last = (await log.last(stream))?.revision ?? 'none'
    const isReadable = revisionNumber(last) >= revisionNumber(reached)
    // A crash may have left records of an unfinished append there, which no read gives: then the state is the newest.
    if (isReadable && !(await hasEventsAfter(stream, loaded.revision)))
      return { ...found, loaded: { ...loaded, revision: last } }
    throw new WrongRevision(stream, reached)
  }

  const assertNewest = async (id: string, { revision }: Loaded<State>) => {
    const stream = streamName(kind, id)
    const last = await log.last(stream)
    const actual = last?.revision ?? 'none'
    if (actual !== revision) throw new WrongRevision(stream, actual)
    return last && { position: last.position, id: last.id }
  }

  return { loadAt, assertNewest }
}
