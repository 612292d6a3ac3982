import { type DecodedEvent, type WriteStatement, projectionOf } from '../src/eventstore/engine/projection.ts'
import type { Model } from '../src/contract/models.ts'
import type { PatchOperation } from '../src/base/json/patch-operation.ts'
import { changedModels } from '../src/server/models/changed-models.ts'
import type { ModelsEvent } from '../src/server/models/events.ts'
import { normalizeModelId } from '../src/server/models/normalized-id.ts'
import { texts } from '../src/eventstore/postgres/arrays.ts'
import { literal } from './support/changed-rows.ts'
import {
  ALL_MODELS,
  modelPricesTable,
  modelProvidersTable,
  modelsTable,
  priceChangesTable,
} from '../src/tables/main.ts'

type ProviderField = Exclude<keyof typeof modelProvidersTable.columns, 'id'>

type Fields = { [Field in ProviderField]?: unknown }
type Row = { readonly providerId: string; readonly modelId: string; readonly model: Model | undefined }
type PriceRow = Row & { readonly position: bigint }
type PriceChange = { readonly position: bigint; readonly providerId: string; readonly appendId: string }

/**
 * The changes of a batch: removed or replaced providers, added ones, changed fields of others, and models by provider and id.
 * `model` is undefined for a removed model. Prices are those of all events of the batch.
 */
type Changes = {
  readonly cleared: Set<string>
  readonly added: Map<string, Fields>
  readonly set: Map<string, Fields>
  readonly models: Map<string, Row>
  readonly priceChanges: PriceChange[]
  readonly prices: PriceRow[]
}

const MODELS = '/models/'
const setModel = ({ models }: Changes, row: Row) => void models.set(`${row.providerId}/${row.modelId}`, row)

const clear = ({ cleared, added, set, models }: Changes, providerId: string) => {
  cleared.add(providerId)
  added.delete(providerId)
  set.delete(providerId)
  for (const [key, row] of models) if (row.providerId === providerId) models.delete(key)
}

const setFields = (changes: Changes, providerId: string, patch: readonly PatchOperation[]) => {
  const fields: Fields = changes.added.get(providerId) ?? changes.set.get(providerId) ?? {}
  for (const operation of patch) {
    if (operation.path.startsWith(MODELS)) continue
    fields[operation.path.slice(1) as ProviderField] = operation.op === 'remove' ? undefined : operation.value
  }
  if (!changes.added.has(providerId) && Object.keys(fields).length > 0) changes.set.set(providerId, fields)
}

/** Collects what an event sets in models, and what they cost from its position on. */
const setModels = (changes: Changes, event: DecodedEvent<ModelsEvent>) => {
  const { position, streamId: providerId, appendId } = event
  const { replacesAll, models } = changedModels(event)
  const price = { position, providerId }
  changes.priceChanges.push({ ...price, appendId })
  if (replacesAll) {
    clear(changes, providerId)
    changes.prices.push({ ...price, modelId: ALL_MODELS, model: undefined })
  }
  for (const [modelId, model] of models) {
    setModel(changes, { providerId, modelId, model })
    changes.prices.push({ ...price, modelId, model })
  }
}

/** A text without the characters that PostgreSQL text cannot store. */
const searchable = (text: string) => text.toLowerCase().toWellFormed().replaceAll('\0', '')

type Offered = Row & { readonly model: Model }

const key = { provider_id: ({ providerId }: Row) => providerId, model_id: ({ modelId }: Row) => modelId }
const removed = modelsTable.unnest<Row>(key)
const written = modelsTable.unnest<Offered & { readonly normal: string }>({
  ...key,
  normalized_id: ({ normal }) => normal,
  name: ({ model }) => literal(model.name),
  search: ({ modelId, normal, model }) => searchable(`${modelId} ${normal} ${model.name}`),
  body: ({ providerId, modelId, normal, model }) =>
    JSON.stringify({ providerId, modelId, normalizedId: normal, ...model }),
})

const writeModels = (rows: readonly Offered[], write: WriteStatement) =>
  write(
    'models-upsert',
    `${written.insert} on conflict (provider_id, model_id) do update set normalized_id = excluded.normalized_id,
       name = excluded.name, search = excluded.search, body = excluded.body`,
    written.values(rows.map((row) => ({ ...row, normal: normalizeModelId(row.modelId) }))),
  )

const removeModels = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'models-remove',
    `delete from models m using ${removed.as('g')} where m.provider_id = g.provider_id and m.model_id = g.model_id`,
    removed.values(rows),
  )

const newProviders = modelProvidersTable.unnest<readonly [id: string, Fields]>({
  id: ([id]) => id,
  name: ([, { name }]) => literal(name),
  env: ([, { env }]) => literal(env),
  npm: ([, { npm }]) => literal(npm),
  api: ([, { api }]) => literal(api),
  doc: ([, { doc }]) => literal(doc),
})

const writeSet = (id: string, fields: Fields, write: WriteStatement) => {
  const names = Object.keys(fields) as ProviderField[]
  const assignments = names.map((name, i) => `${name} = $${i + 2}`).join(', ')
  write('', `update model_providers set ${assignments} where id = $1`, [
    id,
    ...names.map((name) => literal(fields[name]) ?? null),
  ])
}

const changedPrices = priceChangesTable.unnest<PriceChange>({
  position: ({ position }) => position,
  provider_id: ({ providerId }) => providerId,
  append_id: ({ appendId }) => appendId,
})
const newPrices = modelPricesTable.unnest<PriceRow>({
  ...key,
  position: ({ position }) => position,
  name: ({ model }) => literal(model?.name),
  cost: ({ model }) => literal(model?.cost),
})

/** The model registry: providers and their models, and what these cost since when. */
export const models = projectionOf<ModelsEvent>()<Changes>({
  name: 'models',
  tables: `${modelProvidersTable.create}
    ${modelsTable.create}
    ${priceChangesTable.create}
    create index price_changes_append on price_changes (append_id);
    ${modelPricesTable.create}`,
  rows: {
    model_providers: { models: 'id' },
    models: { models: 'provider_id' },
    price_changes: { models: 'provider_id' },
    model_prices: { models: 'provider_id' },
  },
  indexes: '',
  start: () => ({
    cleared: new Set(),
    added: new Map(),
    set: new Map(),
    models: new Map(),
    priceChanges: [],
    prices: [],
  }),
  on: {
    ProviderAdded: (changes, event) => {
      setModels(changes, event)
      const { models: _, ...fields } = event.data
      changes.added.set(event.streamId, fields)
    },
    ProviderUpdated: (changes, event) => {
      setModels(changes, event)
      setFields(changes, event.streamId, event.data.patch)
    },
    ProviderRemoved: setModels,
  },
  onSkipped: ({ priceChanges }, { stream, streamId: providerId, position, appendId }) => {
    if (stream.startsWith('models-')) priceChanges.push({ position, providerId, appendId })
  },
  write: ({ cleared, added, set, models, priceChanges, prices }, write) => {
    if (priceChanges.length > 0) write('price-changes-insert', changedPrices.insert, changedPrices.values(priceChanges))
    if (prices.length > 0) write('model-prices-insert', newPrices.insert, newPrices.values(prices))
    if (cleared.size > 0) {
      write('models-clear', 'delete from models where provider_id = any($1::text[])', [texts([...cleared])])
      write('model-providers-clear', 'delete from model_providers where id = any($1::text[])', [texts([...cleared])])
    }
    const rows = [...models.values()]
    const present = rows.filter((row): row is Offered => row.model !== undefined)
    const removed = rows.filter(({ model }) => model === undefined)
    if (added.size > 0) write('model-providers-insert', newProviders.insert, newProviders.values([...added]))
    for (const [id, fields] of set) writeSet(id, fields, write)
    if (present.length > 0) writeModels(present, write)
    if (removed.length > 0) removeModels(removed, write)
  },
})
