import { z } from 'zod'
import { flag, nextCursor, text } from './fields.ts'
import { Cursor, Key, Limit } from './parameters.ts'
import { type Api, data } from './route.ts'

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

export const ModelView = Model.extend({
  providerId: text('The id of the provider', 'openai'),
  modelId: text('The id of the model at its provider', 'gpt-5'),
  normalizedId: text('The id that traces get which used the model: the same at every provider', 'gpt-5'),
}).meta({ id: 'Model', description: 'A model as a provider offers it' })

export const ProviderView = z
  .object({
    providerId: text('The id of the provider', 'openai'),
    name: text('The name of the provider'),
    env: z.array(z.string()).meta({ description: 'Environment variables that hold its key by convention' }),
    npm: text('The name of the npm package that speaks to the provider'),
    api: text('The address of the API of the provider').optional(),
    doc: text('The address of the documentation of the provider'),
  })
  .meta({ id: 'ModelProvider', description: 'A provider of models' })

const OneModel = z.object({ model: ModelView, provider: ProviderView })
export type OneModel = z.infer<typeof OneModel>

/** The registry of models, which anybody may read. */
export const models = {
  'GET /v1/models': {
    tag: 'models',
    summary: 'List the models of the registry, of one provider or with all words of `q`',
    description:
      'Anybody may read it. By provider and id, 50 a page if `limit` does not say otherwise. Empty where the ' +
      'operator has no catalogue. Errors: `invalid_request` (400) for a `limit` or `cursor` that is none.',
    auth: 'optional',
    query: {
      provider: Key.meta({ description: 'Only models of this provider', examples: ['openai'] }).optional(),
      q: Key.meta({ description: 'Words that must all stand in the id or the name', examples: ['gpt'] }).optional(),
      limit: Limit.optional(),
      cursor: Cursor.optional(),
    },
    answer: data(z.object({ models: z.array(ModelView).meta({ description: 'The models of this page' }), nextCursor })),
  },
  'GET /v1/models/{providerId}/{modelId}': {
    tag: 'models',
    summary: "Read a model and its provider; slashes in a model's id may stand as they are",
    description: 'Anybody may read it. Errors: `not_found` (404).',
    auth: 'optional',
    path: {
      providerId: Key.meta({ description: 'The id of the provider', examples: ['openai'] }),
      modelId: Key.meta({ description: 'The id of the model at its provider', examples: ['gpt-5'] }),
    },
    answer: data(OneModel),
    errors: ['not_found'],
  },
} as const satisfies Api
