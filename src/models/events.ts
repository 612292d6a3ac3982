import { z } from 'zod'
import { formatsOf } from '../engine/formats.ts'
import { event } from '../engine/stream.ts'
import { PatchOperation } from '../trace/events.ts'

/** A model as a provider offers it (interface: Model registry). Prices are US dollars for a million tokens. */
export const Model = z.object({
  name: z.string(),
  family: z.string().optional(),
  attachment: z.boolean(),
  reasoning: z.boolean(),
  toolCall: z.boolean(),
  structuredOutput: z.boolean().optional(),
  temperature: z.boolean(),
  openWeights: z.boolean(),
  /** `YYYY-MM` or `YYYY-MM-DD`, like the other dates; empty when nobody says. */
  knowledge: z.string(),
  releaseDate: z.string(),
  lastUpdated: z.string(),
  status: z.string().optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  cost: z.record(z.string(), z.unknown()),
  limit: z.object({ context: z.number().optional(), output: z.number().optional(), input: z.number().optional() }),
  interleaved: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
  providerOverride: z.object({ npm: z.string(), api: z.string().optional() }).optional(),
})
export type Model = z.infer<typeof Model>

const provider = {
  name: z.string(),
  env: z.array(z.string()),
  npm: z.string(),
  api: z.string().optional(),
  doc: z.string(),
  /** By model id, which may hold `/`, `:` and `@`. */
  models: z.record(z.string(), Model),
}
export const Provider = z.object(provider)
export type Provider = z.infer<typeof Provider>

/** Stream `models-<provider>`. A patch holds whole values at `/<field>` and `/models/<id>` only. */
export const ModelsEvent = z.discriminatedUnion('type', [
  event('ProviderAdded', provider),
  event('ProviderUpdated', { patch: z.array(PatchOperation) }),
  event('ProviderRemoved', {}),
])
export type ModelsEvent = z.infer<typeof ModelsEvent>
export const modelsFormats = formatsOf(ModelsEvent)
