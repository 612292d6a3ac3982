import jsonpatch from 'fast-json-patch'
import type { Decision, StreamKind } from '../engine/stream.ts'
import type { PatchOperation } from '../trace/events.ts'
import { ModelsEvent, type Provider } from './events.ts'

export type Registered = { readonly is: 'absent' } | { readonly is: 'present'; readonly provider: Provider }

const evolve = (state: Registered, event: ModelsEvent): Registered => {
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

/** Streams `models-<provider>`, the id as the catalogue has it. */
export const registry: StreamKind<Registered, ModelsEvent> = {
  category: 'models',
  events: ModelsEvent,
  initial: () => ({ is: 'absent' }),
  evolve,
  weigh: (state) =>
    PROVIDER_BYTES + (state.is === 'present' ? MODEL_BYTES * Object.keys(state.provider.models).length : 0),
}

/** The part of a path that stands for a whole value: a field of the provider, or one of its models. */
const wholePath = (path: string) =>
  path
    .split('/')
    .slice(0, path.startsWith('/models/') ? 3 : 2)
    .join('/')

const valueAt = (provider: Provider, path: string): unknown => jsonpatch.getValueByPointer(provider, path)

/** What changes one provider into another: fields and models that differ, each whole. */
export const difference = (before: Provider, after: Provider): PatchOperation[] => {
  const paths = new Set(jsonpatch.compare(before, after).map(({ path }) => wholePath(path)))
  return [...paths].map((path): PatchOperation => {
    const value = valueAt(after, path)
    if (value === undefined) return { op: 'remove', path }
    return { op: valueAt(before, path) === undefined ? 'add' : 'replace', path, value }
  })
}

/** Takes over what the catalogue says of a provider; nothing when the registry says so already. */
export const put =
  (provider: Provider): Decision<Registered, ModelsEvent> =>
  (state) => {
    if (state.is === 'absent') return [{ type: 'ProviderAdded', data: provider }]
    const patch = difference(state.provider, provider)
    return patch.length === 0 ? [] : [{ type: 'ProviderUpdated', data: { patch } }]
  }

/** Takes out a provider that the catalogue no longer has. */
export const remove = (): Decision<Registered, ModelsEvent> => (state) =>
  state.is === 'absent' ? [] : [{ type: 'ProviderRemoved', data: {} }]
