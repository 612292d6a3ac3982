import jsonpatch from 'fast-json-patch'
import type { Decision, StreamKind } from '../../eventstore/engine/stream.ts'
import type { PatchOperation } from '../../base/json/patch-operation.ts'
import { ModelsEvent, type ModelProvider } from './events.ts'

export type ProviderState = { readonly is: 'absent' } | { readonly is: 'present'; readonly provider: ModelProvider }

const evolve = (state: ProviderState, event: ModelsEvent): ProviderState => {
  switch (event.type) {
    case 'ProviderAdded':
      return { is: 'present', provider: structuredClone(event.data) }
    case 'ProviderUpdated': {
      if (state.is === 'absent') throw new Error('the provider does not exist')
      const patch = structuredClone(event.data.patch) as jsonpatch.Operation[]
      return { is: 'present', provider: jsonpatch.applyPatch(state.provider, patch).newDocument }
    }
    case 'ProviderRemoved':
      return { is: 'absent' }
  }
}

const PROVIDER_BYTES = 2_000
const MODEL_BYTES = 2_500

/** Streams `models-<provider>`, with the provider's id in the catalogue. */
export const modelProviders: StreamKind<ProviderState, ModelsEvent> = {
  category: 'models',
  events: ModelsEvent,
  initial: () => ({ is: 'absent' }),
  evolve,
  draft: (state) => structuredClone(state),
  sizeOf: (state) =>
    PROVIDER_BYTES + (state.is === 'present' ? MODEL_BYTES * Object.keys(state.provider.models).length : 0),
}

/** The JSON pointer to the whole value that a path leads into: a field of the provider, or one of its models. */
const pathOfWholeValue = (path: string) =>
  path
    .split('/')
    .slice(0, path.startsWith('/models/') ? 3 : 2)
    .join('/')

const valueAt = (provider: ModelProvider, path: string): unknown => jsonpatch.getValueByPointer(provider, path)

/** The patch from one provider to another. Fields and models that differ are replaced as a whole. */
export const diffProviders = (before: ModelProvider, after: ModelProvider): PatchOperation[] => {
  const paths = new Set(jsonpatch.compare(before, after).map(({ path }) => pathOfWholeValue(path)))
  return [...paths].map((path): PatchOperation => {
    const value = valueAt(after, path)
    if (value === undefined) return { op: 'remove', path }
    return { op: valueAt(before, path) === undefined ? 'add' : 'replace', path, value }
  })
}

/** Adds a provider, or updates it to the catalogue. */
export const putProvider =
  (provider: ModelProvider): Decision<ProviderState, ModelsEvent> =>
  (state) => {
    if (state.is === 'absent') return [{ type: 'ProviderAdded', data: provider }]
    const patch = diffProviders(state.provider, provider)
    return patch.length === 0 ? [] : [{ type: 'ProviderUpdated', data: { patch } }]
  }

/** Adds a provider, unless there is one with its id. */
export const addProvider =
  (provider: ModelProvider): Decision<ProviderState, ModelsEvent> =>
  (state) =>
    state.is === 'absent' ? [{ type: 'ProviderAdded', data: provider }] : []

/** Removes a provider that is not in the catalogue any more. */
export const removeProvider = (): Decision<ProviderState, ModelsEvent> => (state) =>
  state.is === 'absent' ? [] : [{ type: 'ProviderRemoved', data: {} }]
