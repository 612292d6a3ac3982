import type { Model } from '../../contract/models.ts'
import type { ModelsEvent } from './events.ts'

/** What an event changes in the models of its provider. */
type ChangedModels = {
  /** Whether the provider has none of its models before any more. */
  readonly replacesAll: boolean
  /** By model id; undefined for a removed model. */
  readonly models: ReadonlyMap<string, Model | undefined>
}

const MODELS = '/models/'
const unescape = (pointer: string) => pointer.replaceAll('~1', '/').replaceAll('~0', '~')

export const changedModels = (event: ModelsEvent): ChangedModels => {
  switch (event.type) {
    case 'ProviderAdded':
      return { replacesAll: true, models: new Map(Object.entries(event.data.models)) }
    case 'ProviderUpdated': {
      const operations = event.data.patch.filter(({ path }) => path.startsWith(MODELS))
      const models = operations.map((operation): [string, Model | undefined] => [
        unescape(operation.path.slice(MODELS.length)),
        operation.op === 'remove' ? undefined : (operation.value as Model),
      ])
      return { replacesAll: false, models: new Map(models) }
    }
    case 'ProviderRemoved':
      return { replacesAll: true, models: new Map() }
  }
}
