import { isDeepStrictEqual } from 'node:util'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { Model } from '../../contract/models.ts'
import { type Price, priceIn } from './cost.ts'
import { type ModelEntry, newLookup, normalizedIdsOf } from './lookup.ts'
import { normalizeModelId } from './normalized-id.ts'

/** What a model is called and costs from a position of the log on. Without a name, the registry does not have it. */
type State = { readonly from: bigint; readonly name?: string; readonly price?: Price | undefined }

/** A model that the registry has or had. Its states are in the order of the log, each different from the one before. */
type PricedModel = { readonly ids: Omit<ModelEntry, 'name'>; readonly states: State[] }

/** The models of a provider that an event has set; undefined for a removed one. */
export type PriceChange = {
  readonly position: bigint
  readonly providerId: string
  /** Whether all other models of the provider are removed. */
  readonly replacesAll: boolean
  readonly models: ReadonlyMap<string, Pick<Model, 'name' | 'cost'> | undefined>
}

/** Which model a spelling means from a position of the log on. */
type Step = { readonly from: bigint; readonly model: PricedModel | undefined }

/** The prices that the registry had at positions of the log. */
export type Prices = {
  /**
   * The price that a model, named as agents do, had at a position of the log; undefined for a model that the registry did not have, or had without
   * a price.
   */
  readonly at: (spelling: string, position: bigint) => Price | undefined
}

const MAX_CACHED = 2_000
/** Longer spellings are not cached. */
const MAX_CACHED_LENGTH = 200

/** The last of these that begins at or before a position. */
const lastAt = <T extends { readonly from: bigint }>(all: readonly T[], position: bigint): T | undefined => {
  let [low, high] = [0, all.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle]!.from <= position) low = middle + 1
    else high = middle
  }
  return all[low - 1]
}

const isSame = (a: State | undefined, b: State): boolean => a?.name === b.name && isDeepStrictEqual(a?.price, b.price)

/** Adds a state behind the others. Another one of the same position gives way to it. */
const addState = ({ states }: PricedModel, state: State): void => {
  if (states.at(-1)?.from === state.from) states.pop()
  if (!isSame(states.at(-1), state)) states.push(state)
}

/** The positions from which on one of the models is there, has another name, or is gone. */
const namingsOf = (models: readonly PricedModel[]): bigint[] => {
  const positions = models.flatMap(({ states }) =>
    states.filter(({ name }, i) => name !== states[i - 1]?.name).map(({ from }) => from),
  )
  return [...new Set(positions)].sort((a, b) => Number(a - b))
}

/** The models that have a name in the state that is chosen, as a lookup takes them. */
const entriesOf = (models: readonly PricedModel[], stateOf: (model: PricedModel) => State | undefined): ModelEntry[] =>
  models.flatMap((model) => {
    const name = stateOf(model)?.name
    return name === undefined ? [] : [{ ...model.ids, name }]
  })

const addTo = <Key>(index: Map<Key, PricedModel[]>, key: Key, model: PricedModel) => {
  const models = index.get(key)
  if (models) models.push(model)
  else index.set(key, [model])
}

/** All models that the registry has or had, with what they were called and cost since when. */
export const newPriceHistory = () => {
  const byProvider = new Map<string, Map<string, PricedModel>>()
  const byId = new Map<string, PricedModel[]>()
  const byNormalizedId = new Map<string, PricedModel[]>()
  /** The position of the last event of each provider. */
  const through = new Map<string, bigint>()
  const cache = new BoundedMap<string, readonly Step[]>(MAX_CACHED)

  const newModel = (providerId: string, modelId: string): PricedModel => {
    const ids = { providerId, modelId, normalizedId: normalizeModelId(modelId) }
    const model: PricedModel = { ids, states: [] }
    const ofProvider = byProvider.get(providerId) ?? new Map<string, PricedModel>()
    byProvider.set(providerId, ofProvider.set(modelId, model))
    addTo(byId, modelId, model)
    addTo(byNormalizedId, ids.normalizedId, model)
    return model
  }

  /** Applies what an event changes, unless it or a later one of its provider was applied before. */
  const apply = ({ position, providerId, replacesAll, models }: PriceChange): void => {
    if (position <= (through.get(providerId) ?? -1n)) return
    through.set(providerId, position)
    cache.clear()
    if (replacesAll) for (const model of byProvider.get(providerId)?.values() ?? []) addState(model, { from: position })
    for (const [modelId, model] of models) {
      const priced = byProvider.get(providerId)?.get(modelId) ?? newModel(providerId, modelId)
      addState(priced, { from: position, ...(model && { name: model.name, price: priceIn(model.cost) }) })
    }
  }

  /** The models that a spelling may mean, at whatever position. */
  const candidatesOf = (spelling: string): readonly PricedModel[] => {
    const slash = spelling.indexOf('/')
    const exact = byProvider.get(spelling.slice(0, Math.max(slash, 0)))?.get(spelling.slice(slash + 1))
    const normalized = normalizedIdsOf(spelling).flatMap((id) => byNormalizedId.get(id) ?? [])
    return [...new Set([...(exact ? [exact] : []), ...(byId.get(spelling) ?? []), ...normalized])]
  }

  const stepsOf = (spelling: string): readonly Step[] => {
    const candidates = candidatesOf(spelling)
    return namingsOf(candidates).map((from) => {
      const found = newLookup(entriesOf(candidates, ({ states }) => lastAt(states, from)))(spelling)
      return { from, model: found && byProvider.get(found.providerId)?.get(found.modelId) }
    })
  }

  const cachedSteps = (spelling: string): readonly Step[] => {
    const cached = cache.get(spelling)
    if (cached) return cached
    const steps = stepsOf(spelling)
    if (spelling.length <= MAX_CACHED_LENGTH) cache.set(spelling, steps)
    return steps
  }

  const at: Prices['at'] = (spelling, position) => {
    const model = lastAt(cachedSteps(spelling), position)?.model
    return model && lastAt(model.states, position)?.price
  }

  /** The models that the registry has after all that was applied. */
  const present = (): ModelEntry[] =>
    [...byProvider.values()].flatMap((models) => entriesOf([...models.values()], ({ states }) => states.at(-1)))

  return { apply, at, present }
}

export type PriceHistory = ReturnType<typeof newPriceHistory>
