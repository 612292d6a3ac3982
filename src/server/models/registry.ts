import type { ReadTables } from '../../tables/main.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { SERVICE, actAs } from '../../base/current-client.ts'
import type { DecodedEvent } from '../../eventstore/engine/projection.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { ModelsEvent } from './events.ts'
import { type ModelEntry, newLookup } from './lookup.ts'
import { normalizeModelId } from './normalized-id.ts'
import { modelNames } from './queries.ts'

/** A model of the registry that an agent has named: its normalized id and its name. */
type ResolvedModel = { readonly model: string; readonly modelName: string }

type Providers = Map<string, Map<string, ModelEntry>>

const MAX_CACHED = 2_000
/** Longer spellings are not cached. */
const MAX_CACHED_LENGTH = 200
const MODELS = '/models/'

const toEntry = (providerId: string, modelId: string, name: string): ModelEntry => ({
  providerId,
  modelId,
  normalizedId: normalizeModelId(modelId),
  name,
})

const unescape = (pointer: string) => pointer.replaceAll('~1', '/').replaceAll('~0', '~')

const apply = (providers: Providers, providerId: string, event: ModelsEvent): void => {
  if (event.type === 'ProviderRemoved') providers.delete(providerId)
  if (event.type === 'ProviderAdded') {
    const models = Object.entries(event.data.models)
    providers.set(providerId, new Map(models.map(([id, { name }]) => [id, toEntry(providerId, id, name)])))
  }
  if (event.type !== 'ProviderUpdated') return
  const models = providers.get(providerId) ?? new Map<string, ModelEntry>()
  providers.set(providerId, models)
  for (const operation of event.data.patch) {
    if (!operation.path.startsWith(MODELS)) continue
    const id = unescape(operation.path.slice(MODELS.length))
    if (operation.op === 'remove') models.delete(id)
    else models.set(id, toEntry(providerId, id, (operation.value as { name: string }).name))
  }
}

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
  let providers: Providers | undefined
  let loading: Promise<Providers> | undefined
  /** Events during a load, applied after it. The load may include them: they set whole values, so that does not matter. */
  let eventsWhileLoading: { providerId: string; event: ModelsEvent }[] = []
  let epoch = 0
  let lookup: ReturnType<typeof newLookup> | undefined
  const cache = new BoundedMap<string, ResolvedModel | undefined>(MAX_CACHED)

  const clearCache = () => {
    lookup = undefined
    cache.clear()
    changed()
  }

  const load = async (): Promise<Providers> => {
    const epochBefore = epoch
    eventsWhileLoading = []
    await caughtUp()
    const loadedProviders: Providers = new Map()
    for (const { providerId, modelId, name } of await modelNames(reads)) {
      if (!loadedProviders.has(providerId)) loadedProviders.set(providerId, new Map())
      loadedProviders.get(providerId)!.set(modelId, toEntry(providerId, modelId, name))
    }
    for (const { providerId, event } of eventsWhileLoading) apply(loadedProviders, providerId, event)
    if (epochBefore === epoch) providers = loadedProviders
    clearCache()
    return loadedProviders
  }

  const loaded = (): Promise<Providers> =>
    (loading ??= actAs(SERVICE, load).finally(() => {
      loading = undefined
    }))

  /** Finds the model that an agent names so; undefined for an unknown model. Waits for the first load. @throws Unavailable */
  const resolve = async (spelling: string) => find(providers ?? (await loaded()), spelling)

  /** Like `resolve`, without waiting. While the models are not loaded, it starts to load them and returns undefined. */
  const peek = (spelling: string) => {
    if (providers) return find(providers, spelling)
    void loaded().catch(() => {}) // others log that the read models cannot be queried
    return undefined
  }

  const find = (providers: Providers, spelling: string) => {
    if (cache.has(spelling)) return cache.get(spelling)
    lookup ??= newLookup([...providers.values()].flatMap((models) => [...models.values()]))
    const entry = lookup(spelling)
    const resolved = entry && { model: entry.normalizedId, modelName: entry.name }
    if (spelling.length <= MAX_CACHED_LENGTH) cache.set(spelling, resolved)
    return resolved
  }

  /** Applies the changes of an event. Called for every event before its write is answered. */
  const observe = (event: DecodedEvent) => {
    if (!event.stream.startsWith('models-')) return
    const change = event as DecodedEvent & ModelsEvent
    if (providers) apply(providers, event.streamId, change)
    else if (loading) eventsWhileLoading.push({ providerId: event.streamId, event: change })
    clearCache()
  }

  /** Drops all models. Called when an event could not be read. */
  const clear = () => {
    epoch += 1
    providers = undefined
    clearCache()
  }

  return { resolve, peek, observe, clear }
}

export type ModelRegistry = ReturnType<typeof newModelRegistry>
