import { z } from 'zod'
import { isUnstorable } from '../json/exact.ts'
import type { Model, Provider } from './events.ts'

// The catalogue grows fields by the month: unknown ones are ignored, odd ones left out, a missing one gets its default.
const flag = z.boolean().catch(false)
const text = z.string().catch('')
const list = z.array(z.string()).catch([])
const perhaps = <T>(schema: z.ZodType<T>) => schema.optional().catch(undefined)

const SourceModel = z.object({
  name: perhaps(z.string()),
  family: perhaps(z.string()),
  attachment: flag,
  reasoning: flag,
  tool_call: flag,
  structured_output: perhaps(z.boolean()),
  temperature: flag,
  open_weights: flag,
  knowledge: text,
  release_date: text,
  last_updated: text,
  status: perhaps(z.string()),
  modalities: z.object({ input: list, output: list }).catch({ input: [], output: [] }),
  cost: z.record(z.string(), z.unknown()).catch({}),
  limit: z
    .object({ context: perhaps(z.number()), output: perhaps(z.number()), input: perhaps(z.number()) })
    .catch({ context: undefined, output: undefined, input: undefined }),
  interleaved: perhaps(z.union([z.boolean(), z.record(z.string(), z.unknown())])),
  provider: perhaps(z.object({ npm: perhaps(z.string()), api: perhaps(z.string()) })),
})

const SourceProvider = z.object({
  name: perhaps(z.string()),
  env: list,
  npm: text,
  api: perhaps(z.string()),
  doc: text,
  models: z.record(z.string(), z.unknown()),
})

const MAX_ID = 300
const isProviderId = (id: string) => /^\w[\w.-]{0,99}$/.test(id)
const isModelId = (id: string) =>
  id !== '' && id.length <= MAX_ID && !isUnstorable(id) && !['__proto__', 'constructor', 'prototype'].includes(id)

/** Without the members that are not set, so that what is stored compares equal to what was read. */
const compact = <T extends object>(object: T) => JSON.parse(JSON.stringify(object)) as T

const overrideOf = (given: { npm?: string | undefined; api?: string | undefined } | undefined, npm: string) =>
  given && (given.npm !== undefined || given.api !== undefined) ? { npm: given.npm ?? npm, api: given.api } : undefined

const toModel = (id: string, source: unknown, npm: string): Model | undefined => {
  const parsed = SourceModel.safeParse(source)
  if (!parsed.success) return undefined
  const { tool_call, structured_output, open_weights, release_date, last_updated, provider, name, ...same } =
    parsed.data
  return compact({
    name: name ?? id,
    ...same,
    toolCall: tool_call,
    structuredOutput: structured_output,
    openWeights: open_weights,
    releaseDate: release_date,
    lastUpdated: last_updated,
    providerOverride: overrideOf(provider, npm),
  }) as Model
}

const toProvider = (id: string, source: unknown): Provider | undefined => {
  const parsed = SourceProvider.safeParse(source)
  if (!parsed.success) return undefined
  const { name, models, ...same } = parsed.data
  const known: Record<string, Model> = {}
  for (const [modelId, given] of Object.entries(models)) {
    const model = isModelId(modelId) ? toModel(modelId, given, same.npm) : undefined
    if (model) known[modelId] = model
  }
  return compact({ name: name ?? id, ...same, models: known }) as Provider
}

/**
 * The providers of a catalogue in the form of models.dev's `api.json`, by id; entries that make no sense are left out.
 * @throws Error when nothing in it makes sense: the last good copy is worth more
 */
export const parseCatalogue = (json: string): Map<string, Provider> => {
  const providers = new Map<string, Provider>()
  const given: unknown = JSON.parse(json)
  const entries = typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : []
  for (const [id, source] of entries) {
    const provider = isProviderId(id) ? toProvider(id, source) : undefined
    if (provider && Object.keys(provider.models).length > 0) providers.set(id, provider)
  }
  if (providers.size === 0) throw new Error('it holds no provider with models')
  return providers
}
