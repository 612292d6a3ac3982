import type { ReadTables } from '../../projections/index.ts'
import type { DecodedEvent } from '../engine/projection.ts'
import type { Reads } from '../engine/reads.ts'
import type { ModelsEvent } from './events.ts'
import { type Entry, newLookup } from './lookup.ts'
import { normalizedId } from './normalized-id.ts'
import { modelNames } from './queries.ts'

/** What an agent's spelling of a model stands for. */
export type ResolvedModel = { readonly model: string; readonly modelName: string }

/** The models of the registry in this node's memory, so that an upsert asks nobody. */
export type Registry = {
  /** The model that a spelling means; undefined for none. Waits only until the read model has been read once. */
  resolve(written: string): Promise<ResolvedModel | undefined>
  /** The same as far as it is known by now, for answers that must not wait; what is missing is read meanwhile. */
  peek(written: string): ResolvedModel | undefined
  /** Takes note of what changes. Called for every event before its write is answered. */
  observe(event: DecodedEvent): void
  /** Drops everything: an event could not be read. */
  clear(): void
}

type Providers = Map<string, Map<string, Entry>>

const MAX_REMEMBERED = 2_000
const MODELS = '/models/'

const entryOf = (providerId: string, modelId: string, name: string): Entry => ({
  providerId,
  modelId,
  normalizedId: normalizedId(modelId),
  name,
})

const unescape = (pointer: string) => pointer.replaceAll('~1', '/').replaceAll('~0', '~')

const apply = (providers: Providers, providerId: string, event: ModelsEvent): void => {
  if (event.type === 'ProviderRemoved') providers.delete(providerId)
  if (event.type === 'ProviderAdded') {
    const models = Object.entries(event.data.models)
    providers.set(providerId, new Map(models.map(([id, { name }]) => [id, entryOf(providerId, id, name)])))
  }
  if (event.type !== 'ProviderUpdated') return
  const models = providers.get(providerId) ?? new Map<string, Entry>()
  providers.set(providerId, models)
  for (const operation of event.data.patch) {
    if (!operation.path.startsWith(MODELS)) continue
    const id = unescape(operation.path.slice(MODELS.length))
    if (operation.op === 'remove') models.delete(id)
    else models.set(id, entryOf(providerId, id, (operation.value as { name: string }).name))
  }
}

/**
 * `caughtUp` waits until the read models show all that this node had seen when it began to observe. `changed` is told
 * when names may be others than before.
 */
export const newRegistry = (
  reads: Reads<ReadTables>,
  caughtUp: () => Promise<void>,
  changed: () => void = () => {},
): Registry => {
  let providers: Providers | undefined
  let loading: Promise<Providers> | undefined
  /** What happened while the read model was read, to be applied to it: whole values, so once more does no harm. */
  let missed: { providerId: string; event: ModelsEvent }[] = []
  let epoch = 0
  let lookup: ReturnType<typeof newLookup> | undefined
  const remembered = new Map<string, ResolvedModel | undefined>()

  const forgetAnswers = () => {
    lookup = undefined
    remembered.clear()
    changed()
  }

  const load = async (): Promise<Providers> => {
    const begun = epoch
    missed = []
    await caughtUp()
    const found: Providers = new Map()
    for (const { providerId, modelId, name } of await modelNames(reads)) {
      if (!found.has(providerId)) found.set(providerId, new Map())
      found.get(providerId)!.set(modelId, entryOf(providerId, modelId, name))
    }
    for (const { providerId, event } of missed) apply(found, providerId, event)
    if (begun === epoch) providers = found
    forgetAnswers()
    return found
  }

  const loaded = (): Promise<Providers> =>
    (loading ??= load().finally(() => {
      loading = undefined
    }))

  const resolve = async (written: string) => find(providers ?? (await loaded()), written)

  const peek = (written: string) => {
    if (providers) return find(providers, written)
    void loaded().catch(() => {}) // read models that are away say so elsewhere
    return undefined
  }

  const find = (known: Providers, written: string) => {
    if (remembered.has(written)) return remembered.get(written)
    lookup ??= newLookup([...known.values()].flatMap((models) => [...models.values()]))
    const entry = lookup(written)
    const resolved = entry && { model: entry.normalizedId, modelName: entry.name }
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    if (written.length < 200) remembered.set(written, resolved)
    return resolved
  }

  const observe = (event: DecodedEvent) => {
    if (!event.stream.startsWith('models-')) return
    const change = event as DecodedEvent & ModelsEvent
    if (providers) apply(providers, event.streamId, change)
    else if (loading) missed.push({ providerId: event.streamId, event: change })
    forgetAnswers()
  }

  const clear = () => {
    epoch += 1
    providers = undefined
    forgetAnswers()
  }

  return { resolve, peek, observe, clear }
}
