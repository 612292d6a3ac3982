import { z } from 'zod'
import { formatsOf } from '../engine/codec.ts'
import { event } from '../engine/stream.ts'
import { flag, text } from '../http/fields.ts'
import { PatchOperation } from '../trace/events.ts'

/** `YYYY-MM` or `YYYY-MM-DD`. */
const date = (description: string) =>
  text(`${description}: \`YYYY-MM\` or \`YYYY-MM-DD\`; empty when it is not known`, '2025-08-07')

const stringList = (description: string) => z.array(z.string()).meta({ description, examples: [['text', 'image']] })

const tokenLimit = (of: string) =>
  z
    .number()
    .meta({ description: `At most this many tokens of ${of}` })
    .optional()

/** A model of a provider. Prices are US dollars for a million tokens. */
export const Model = z.object({
  name: text('The name of the model', 'GPT-5'),
  family: text('The family that the model belongs to').optional(),
  attachment: flag('Whether the model takes files'),
  reasoning: flag('Whether the model reasons before it answers'),
  toolCall: flag('Whether the model calls tools'),
  structuredOutput: flag('Whether the model answers in a given structure').optional(),
  temperature: flag('Whether the temperature can be set'),
  openWeights: flag('Whether the weights of the model are public'),
  knowledge: date('Up to when the knowledge of the model goes'),
  releaseDate: date('When the model was released'),
  lastUpdated: date('When the model was last updated'),
  status: text('How mature the model is, if the catalogue says so', 'beta').optional(),
  modalities: z
    .object({ input: stringList('What the model takes'), output: stringList('What the model gives') })
    .meta({ description: 'The kinds of content of the model' }),
  cost: z.record(z.string(), z.unknown()).meta({
    description: 'Prices in US dollars for a million tokens, by kind',
    examples: [{ input: 1.25, output: 10 }],
  }),
  limit: z
    .object({
      context: tokenLimit('input and output together'),
      output: tokenLimit('output'),
      input: tokenLimit('input'),
    })
    .meta({ description: 'How much the model takes and gives' }),
  interleaved: z
    .union([z.boolean(), z.record(z.string(), z.unknown())])
    .meta({ description: 'Whether the model reasons between calls of tools, or how that is told' })
    .optional(),
  providerOverride: z
    .object({
      npm: text('The name of the npm package that speaks to the model'),
      api: text('The address of the API of the model').optional(),
    })
    .meta({ description: 'What the model has otherwise than its provider' })
    .optional(),
})
export type Model = z.infer<typeof Model>

const providerFields = {
  name: z.string(),
  env: z.array(z.string()),
  npm: z.string(),
  api: z.string().optional(),
  doc: z.string(),
  /** By model id, which may contain `/`, `:` and `@`. */
  models: z.record(z.string(), Model),
}
export const ModelProvider = z.object(providerFields)
export type ModelProvider = z.infer<typeof ModelProvider>

/** Stream `models-<provider>`. The paths of a patch are `/<field>` and `/models/<id>` only. */
export const ModelsEvent = z.discriminatedUnion('type', [
  event('ProviderAdded', providerFields),
  event('ProviderUpdated', { patch: z.array(PatchOperation) }),
  event('ProviderRemoved', {}),
])
export type ModelsEvent = z.infer<typeof ModelsEvent>
export const modelsFormats = formatsOf(ModelsEvent)
