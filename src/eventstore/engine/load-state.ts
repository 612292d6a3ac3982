import { type EventLog, type ExpectedRevision, WrongRevision, revisionNumber } from '../log/log.ts'
import type { StateCache } from './state-cache.ts'
import { type Loaded, shownRevision, streamName } from './stream.ts'

/** Where states are loaded from if the cache has none: the log, or read models, whose rows have the stream's revision. */
export type StateSource<State, Need> = {
  /** A state with at least the parts in `needs`, all of one revision. Read models have to show at least the position `shown`. */
  load(id: string, needs: readonly Need[], shown: bigint): Promise<Loaded<State>>
  /** For sources that load a state in parts. Default: if a part is missing, the whole state is loaded again. */
  readonly parts?: {
    /** Whether a state has the part that a command needs. */
    covers(state: State, need: Need): boolean
    /** Adds loaded parts to a state of the same revision. */
    add(state: State, loaded: State): void
  }
  /** Whether states come from the log itself, so that each is the newest one of its stream when it is loaded. */
  readonly readsLog?: boolean
}

export type LoadedState<State> = {
  readonly loaded: Loaded<State>
  /** Whether it was read from the log, and so was the newest state: one from memory or read models may be outdated. */
  readonly isNewest: boolean
}

type StateLoaderOptions<State, Need> = {
  readonly kind: { readonly category: string }
  readonly source: StateSource<State, Need>
  readonly log: Pick<EventLog, 'read' | 'last'>
  readonly cache: Pick<StateCache<State>, 'get'>
}

/** Loads the states that commands are decided on, from memory if it has what they need. */
export const newStateLoader = <State, Need>(options: StateLoaderOptions<State, Need>) => {
  const { kind, source, log, cache } = options

  /**
   * Adds missing parts to the state in memory. If another node has appended to the stream since, the parts in memory belong to
   * another revision: then everything that is needed is loaded.
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

  /**
   * A state with the parts in `needs`, at the revision `reached`, which the stream is known to have, or a later one.
   * @throws WrongRevision while it cannot be loaded
   */
  const loadAt = async (id: string, needs: readonly Need[], reached: ExpectedRevision): Promise<LoadedState<State>> => {
    const found = await load(id, needs)
    const { loaded } = found
    if (revisionNumber(loaded.revision) >= revisionNumber(reached)) return found
    const stream = streamName(kind, id)
    const last = (await log.last(stream))?.revision ?? 'none'
    const isReadable = revisionNumber(last) >= revisionNumber(reached)
    // A crash may have left records of an unfinished append, which no read returns: then this state is the newest.
    if (isReadable && !(await hasEventsAfter(stream, loaded.revision)))
      return { ...found, loaded: { ...loaded, revision: last, shown: shownRevision(loaded) } }
    throw new WrongRevision(stream, reached)
  }

  /**
   * Checks the revision of a decision that appends nothing, as no append checks it. Returns the stream's last event.
   * @throws WrongRevision if the stream has moved on
   */
  const assertNewest = async (id: string, { revision }: Loaded<State>) => {
    const stream = streamName(kind, id)
    const last = await log.last(stream)
    const actual = last?.revision ?? 'none'
    if (actual !== revision) throw new WrongRevision(stream, actual)
    return last && { position: last.position, id: last.id }
  }

  return { loadAt, assertNewest }
}
