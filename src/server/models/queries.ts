import { z } from 'zod'
import { ALL_MODELS, type ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { isUnstorable } from '../../base/json/exact.ts'
import type { PriceChange } from './price-history.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../http/list-page.ts'

type ModelReads = Reads<ReadTables>

type PriceRow = { position: bigint; provider_id: string; model_id: string; name: string | null; cost: string | null }

/** What all events of the registry have set, in their order. */
export const priceChanges = async (reads: ModelReads): Promise<PriceChange[]> => {
  const rows = await reads.rows<PriceRow>(
    'model-prices',
    'select position, provider_id, model_id, name, cost from model_prices order by position',
  )
  const modelOf = ({ name, cost }: PriceRow) =>
    name === null || cost === null ? undefined : { name: JSON.parse(name), cost: JSON.parse(cost) }
  return [...Map.groupBy(rows, ({ position }) => position)].map(([position, ofEvent]) => ({
    position,
    providerId: ofEvent[0]!.provider_id,
    replacesAll: ofEvent.some(({ model_id }) => model_id === ALL_MODELS),
    models: new Map(
      ofEvent.filter(({ model_id }) => model_id !== ALL_MODELS).map((row) => [row.model_id, modelOf(row)]),
    ),
  }))
}

/** The ids of all providers in the registry. */
export const providerIds = async (reads: ModelReads): Promise<string[]> =>
  (await reads.rows<{ id: string }>('model-providers', 'select id from model_providers')).map(({ id }) => id)

type ModelRow = { provider_id: string; model_id: string; body: string }
type AfterModel = { readonly providerId: string; readonly modelId: string }

const KeyText = z.string().refine((text) => !isUnstorable(text))
const Keys = z.tuple([KeyText, KeyText])

/** Reads a cursor: the last model of the previous page, or a key before all models if there is no cursor. @throws 400 for an invalid cursor */
export const parseModelCursor = (cursor: string | undefined): AfterModel => {
  if (cursor === undefined) return { providerId: '', modelId: '' }
  const keys = decodeCursor(cursor, Keys)
  if (!keys) throw invalidCursor()
  return { providerId: keys[0], modelId: keys[1] }
}

export const modelCursor = ({ provider_id, model_id }: ModelRow): string => encodeCursor(provider_id, model_id)

const listStatement = `
  select provider_id, model_id, body from models
  where ($1::text is null or provider_id = $1) and (provider_id, model_id) > ($2, $3) and search like all($4::text[])
  order by provider_id, model_id limit $5`

const likePattern = (word: string) => `%${word.replace(/[\\%_]/g, '\\$&')}%`

/** Models, sorted by provider and id. Each word of `q` must occur in the id, the normalized id or the name. */
export const listModels = (
  reads: ModelReads,
  options: { provider: string | undefined; q: string | undefined; after: AfterModel; limit: number },
): Promise<ModelRow[]> => {
  const words = (options.q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const { providerId, modelId } = options.after
  const values = [options.provider ?? null, providerId, modelId, words.map(likePattern), options.limit]
  return reads.rows<ModelRow & Row>('models-list', listStatement, values)
}

export type ModelWithProviderRow = {
  body: string
  name: string
  env: string
  npm: string
  api: string | null
  doc: string
}

const oneStatement = `
  select m.body, p.name, p.env, p.npm, p.api, p.doc from models m join model_providers p on p.id = m.provider_id
  where m.provider_id = $1 and m.model_id = $2`

export const findModel = async (
  reads: ModelReads,
  providerId: string,
  modelId: string,
): Promise<ModelWithProviderRow | undefined> =>
  (await reads.rows<ModelWithProviderRow & Row>('model', oneStatement, [providerId, modelId]))[0]
