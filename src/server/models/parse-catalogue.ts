import { z } from 'zod'
import { isUnstorable } from '../../base/json/exact.ts'
import type { Model } from '../../contract/models.ts'
import type { ModelProvider } from './events.ts'

// The catalogue gets new fields often, so parsing is lenient: unknown fields are ignored, and fields that are missing or of
// another type get a default or are left out.
const flag = z.boolean().catch(false)
const text = z.string().catch('')
const list = z.array(z.string()).catch([])
const optional = <T>(schema: z.ZodType<T>) => schema.optional().catch(undefined)

const SourceModel = z.object({
  name: optional(z.string()),
  family: optional(z.string()),
  attachment: flag,
  reasoning: flag,
  tool_call: flag,
  structured_output: optional(z.boolean()),
  temperature: flag,
  open_weights: flag,
  knowledge: text,
  release_date: text,
  last_updated: text,
  status: optional(z.string()),
  modalities: z.object({ input: list, output: list }).catch({ input: [], output: [] }),
  cost: z.record(z.string(), z.unknown()).catch({}),
  limit: z
    .object({ context: optional(z.number()), output: optional(z.number()), input: optional(z.number()) })
    .catch({ context: undefined, output: undefined, input: undefined }),
  interleaved: optional(z.union([z.boolean(), z.record(z.string(), z.unknown())])),
  provider: optional(z.object({ npm: optional(z.string()), api: optional(z.string()) })),
})

const SourceProvider = z.object({
  name: optional(z.string()),
  env: list,
  npm: text,
  api: optional(z.string()),
  doc: text,
  models: z.record(z.string(), z.unknown()),
})

const MAX_ID = 300
const isProviderId = (id: string) => /^\w[\w.-]{0,99}$/.test(id)
const isModelId = (id: string) =>
  id !== '' && id.length <= MAX_ID && !isUnstorable(id) && !['__proto__', 'constructor', 'prototype'].includes(id)

/** Removes undefined fields, so that a stored provider compares equal to a parsed one. */
const compact = <T extends object>(object: T) => JSON.parse(JSON.stringify(object)) as T

const toOverride = (given: { npm?: string | undefined; api?: string | undefined } | undefined, npm: string) =>
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
    providerOverride: toOverride(provider, npm),
  }) as Model
}

const toProvider = (id: string, source: unknown): ModelProvider | undefined => {
  const parsed = SourceProvider.safeParse(source)
  if (!parsed.success) return undefined
  const { name, models, ...same } = parsed.data
  const known: Record<string, Model> = {}
  for (const [modelId, given] of Object.entries(models)) {
    const model = isModelId(modelId) ? toModel(modelId, given, same.npm) : undefined
    if (model) known[modelId] = model
  }
  return compact({ name: name ?? id, ...same, models: known }) as ModelProvider
}

/**
 * Parses a catalogue in the form of models.dev's `api.json`. Returns its providers by id, without invalid entries.
 * @throws Error for text that is not JSON or holds no valid provider, so that it does not replace a good catalogue
 */
export const parseCatalogue = (json: string): Map<string, ModelProvider> => {
  const providers = new Map<string, ModelProvider>()
  const given: unknown = JSON.parse(json)
  const entries = typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : []
  for (const [id, source] of entries) {
    const provider = isProviderId(id) ? toProvider(id, source) : undefined
    if (provider && Object.keys(provider.models).length > 0) providers.set(id, provider)
  }
  if (providers.size === 0) throw new Error('it holds no provider with models')
  return providers
}
