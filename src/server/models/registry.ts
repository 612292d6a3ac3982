import type { ReadTables } from '../../tables/main.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { SERVICE, actAs } from '../../base/current-client.ts'
import type { DecodedEvent } from '../../eventstore/engine/projection.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { newYielding } from '../../base/yielding.ts'
import { changedModels } from './changed-models.ts'
import type { ModelsEvent } from './events.ts'
import { type ModelEntry, newLookup } from './lookup.ts'
import { type PriceChange, type PriceHistory, type Prices, newPriceHistory } from './price-history.ts'
import { priceChanges } from './queries.ts'

/** A model of the registry that an agent has named: its normalized id and its name. */
type ResolvedModel = { readonly model: string; readonly modelName: string }

const resolved = (entry: ModelEntry | undefined): ResolvedModel | undefined =>
  entry && { model: entry.normalizedId, modelName: entry.name }

/** What the registry knows of models that are named as agents do. */
export type KnownModels = {
  /** Undefined for an unknown model. */
  readonly find: (spelling: string) => ResolvedModel | undefined
  readonly priceAt: Prices['at']
}

const MAX_CACHED = 2_000
/** Longer spellings are not cached. */
const MAX_CACHED_LENGTH = 200

/**
 * The models of the registry in this node's memory, so that writes of traces need no query.
 * `caughtUp` resolves when the read models show all events before the first one that was observed. `changed` is called
 * whenever names may have changed.
 */
export const newModelRegistry = (
  reads: Reads<ReadTables>,
  caughtUp: () => Promise<void>,
  changed: () => void = () => {},
) => {
  let history: PriceHistory | undefined
  let loading: Promise<PriceHistory> | undefined
  /** Changes during a load, applied after it. The load may include them. */
  let changesWhileLoading: PriceChange[] = []
  /** While nothing is loaded: the models of the read models. */
  let behind: Promise<KnownModels> | undefined
  let epoch = 0
  let lookup: ReturnType<typeof newLookup> | undefined
  const cache = new BoundedMap<string, ResolvedModel | undefined>(MAX_CACHED)

  const clearCache = () => {
    lookup = undefined
    cache.clear()
    changed()
  }

  /** What the read models have. */
  const read = async (): Promise<PriceHistory> => {
    const found = newPriceHistory()
    const yielding = newYielding() // years of changes of prices take a second
    for (const change of await priceChanges(reads)) {
      await yielding()
      found.apply(change)
    }
    return found
  }

  const load = async (): Promise<PriceHistory> => {
    const epochBefore = epoch
    changesWhileLoading = []
    await caughtUp()
    const loadedHistory = await read()
    for (const change of changesWhileLoading) loadedHistory.apply(change)
    if (epochBefore === epoch) history = loadedHistory
    behind = undefined
    clearCache()
    return loadedHistory
  }

  const loaded = (): Promise<PriceHistory> =>
    (loading ??= actAs(SERVICE, load).finally(() => {
      loading = undefined
    }))

  /** Finds the model that an agent names so; undefined for an unknown model. Waits for the first load. @throws Unavailable */
  const resolve = async (spelling: string) => find(history ?? (await loaded()), spelling)

  const readBehind = async (): Promise<KnownModels> => {
    const found = await read()
    const find = newLookup(found.present())
    return { find: (spelling) => resolved(find(spelling)), priceAt: found.at }
  }

  /**
   * The models that are known now, for what is read from the read models: while these are too far behind for a load, those that they have.
   * @throws Unavailable
   */
  const known = async (): Promise<KnownModels> => {
    const present = history
    if (present) return { find: (spelling) => find(present, spelling), priceAt: present.at }
    void loaded().catch(() => {}) // others log that the read models cannot be queried
    behind ??= actAs(SERVICE, readBehind).catch((error: unknown) => {
      behind = undefined
      throw error
    })
    return behind
  }

  const find = (history: PriceHistory, spelling: string) => {
    if (cache.has(spelling)) return cache.get(spelling)
    lookup ??= newLookup(history.present())
    const found = resolved(lookup(spelling))
    if (spelling.length <= MAX_CACHED_LENGTH) cache.set(spelling, found)
    return found
  }

  /** Applies the changes of an event. Called for every event before its write is answered. */
  const observe = (event: DecodedEvent) => {
    if (!event.stream.startsWith('models-')) return
    const { position, streamId: providerId } = event
    const change = { position, providerId, ...changedModels(event as DecodedEvent & ModelsEvent) }
    if (history) history.apply(change)
    else if (loading) changesWhileLoading.push(change)
    clearCache()
  }

  /** Drops all models. Called when an event could not be read. */
  const clear = () => {
    epoch += 1
    history = behind = undefined
    clearCache()
  }

  return { resolve, known, observe, clear }
}

export type ModelRegistry = ReturnType<typeof newModelRegistry>
