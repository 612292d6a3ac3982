import { type EventLog, type ExpectedRevision, WrongRevision, revisionNumber } from '../log/log.ts'
import type { StateCache } from './state-cache.ts'
import { type Loaded, streamName } from './stream.ts'

/** Where states are loaded from when the cache has none: the log, or read models with the revision of their rows. */
export type StateSource<State, Need> = {
  /** The state with at least what `needs` name. `cached` is a state in memory that lacks them; it may be completed. */
  load(id: string, needs: readonly Need[], cached: Loaded<State> | undefined): Promise<Loaded<State>>
  /** Whether a state has what a command needs. Default: never. */
  covers?(state: State, need: Need): boolean
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
  /** For decisions that append nothing: no append checks their revision. @throws WrongRevision when the stream has moved */
  assertNewest(id: string, loaded: Loaded<State>): Promise<void>
}

export type StateLoaderOptions<State, Need> = {
  readonly kind: { readonly category: string }
  readonly source: StateSource<State, Need>
  readonly log: Pick<EventLog, 'read' | 'lastRevision'>
  readonly cache: Pick<StateCache<State>, 'get'>
}

/** Loads the states that commands are decided on, from memory where it has what they need. */
export const newStateLoader = <State, Need>(options: StateLoaderOptions<State, Need>): StateLoader<State, Need> => {
  const { kind, source, log, cache } = options

  const load = async (id: string, needs: readonly Need[]): Promise<LoadedState<State>> => {
    const cached = cache.get(id)
    const missing = cached ? needs.filter((need) => !source.covers?.(cached.state, need)) : needs
    if (cached && missing.length === 0) return { loaded: cached, isNewest: false }
    return { loaded: await source.load(id, missing, cached), isNewest: source.readsLog ?? false }
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
    const last = await log.lastRevision(stream)
    const isReadable = revisionNumber(last) >= revisionNumber(reached)
    // A crash may have left records of an unfinished append there, which no read gives: then the state is the newest.
    if (isReadable && !(await hasEventsAfter(stream, loaded.revision)))
      return { ...found, loaded: { ...loaded, revision: last } }
    throw new WrongRevision(stream, reached)
  }

  const assertNewest = async (id: string, { revision }: Loaded<State>) => {
    const stream = streamName(kind, id)
    const last = await log.lastRevision(stream)
    if (last !== revision) throw new WrongRevision(stream, last)
  }

  return { loadAt, assertNewest }
}
