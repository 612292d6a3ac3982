import { z } from 'zod'
import { flag, nextCursor, text } from './fields.ts'
import { Cursor, Key, Limit, badPage } from './parameters.ts'
import { type Api, data } from './route.ts'

/** `YYYY-MM` or `YYYY-MM-DD`. */
const date = (description: string) =>
  text(`${description}: \`YYYY-MM\` or \`YYYY-MM-DD\`; empty if not known`, '2025-08-07')

const stringList = (description: string) => z.array(z.string()).meta({ description, examples: [['text', 'image']] })

const tokenLimit = (of: string) =>
  z
    .number()
    .meta({ description: `The maximum number of tokens of ${of}` })
    .optional()

/** A model of a provider. */
export const Model = z.object({
  name: text('The name of the model', 'GPT-5'),
  family: text('The family that the model belongs to').optional(),
  attachment: flag('Whether the model accepts files'),
  reasoning: flag('Whether the model reasons before it answers'),
  toolCall: flag('Whether the model calls tools'),
  structuredOutput: flag('Whether the model can answer in a given structure').optional(),
  temperature: flag('Whether the temperature can be set'),
  openWeights: flag('Whether the weights of the model are public'),
  knowledge: date('When the knowledge of the model ends'),
  releaseDate: date('When the model was released'),
  lastUpdated: date('When the model was last updated'),
  status: text('The stage of the model, such as `beta`, if the catalogue has one', 'beta').optional(),
  modalities: z
    .object({
      input: stringList('The kinds of content that the model accepts'),
      output: stringList('The kinds of content that the model produces'),
    })
    .meta({ description: 'The kinds of content of the model' }),
  cost: z.record(z.string(), z.unknown()).meta({
    description: 'Prices in US dollars per million tokens, by kind of token',
    examples: [{ input: 1.25, output: 10 }],
  }),
  limit: z
    .object({
      context: tokenLimit('input and output together'),
      output: tokenLimit('output'),
      input: tokenLimit('input'),
    })
    .meta({ description: 'The limits of the model, in tokens' }),
  interleaved: z
    .union([z.boolean(), z.record(z.string(), z.unknown())])
    .meta({ description: 'Whether the model reasons between calls of tools, or the field that holds that reasoning' })
    .optional(),
  providerOverride: z
    .object({
      npm: text('The npm package for calls of the model'),
      api: text('The URL of the API of the model').optional(),
    })
    .meta({ description: 'The fields of the provider that are different for this model' })
    .optional(),
})
export type Model = z.infer<typeof Model>

const ModelView = Model.extend({
  providerId: text('The id of the provider', 'openai'),
  modelId: text('The id of the model at its provider', 'gpt-5'),
  normalizedId: text('The id under which traces store the model: the same for every provider', 'gpt-5'),
}).meta({ id: 'Model', description: 'A model as a provider offers it' })

export const ProviderView = z
  .object({
    providerId: text('The id of the provider', 'openai'),
    name: text('The name of the provider'),
    env: z
      .array(z.string())
      .meta({ description: 'Environment variables that hold the key of the provider, by convention' }),
    npm: text('The npm package for calls of the provider'),
    api: text('The URL of the API of the provider').optional(),
    doc: text('The URL of the documentation of the provider'),
  })
  .meta({ id: 'ModelProvider', description: 'A provider of models' })

const OneModel = z.object({ model: ModelView, provider: ProviderView })
export type OneModel = z.infer<typeof OneModel>

/** The registry of models. */
export const models = {
  'GET /v1/models': {
    tag: 'models',
    summary: 'List the models of the registry, or search them',
    description:
      'Anybody may read the registry. The list is sorted by provider and id. A page has 50 models unless `limit` says otherwise. The list ' +
      'is empty if the operator has configured no catalogue.',
    auth: 'optional',
    query: {
      provider: Key.meta({ description: 'Only models of this provider', examples: ['openai'] }).optional(),
      q: Key.meta({ description: 'Only models whose id or name has all these words', examples: ['gpt'] }).optional(),
      limit: Limit.optional(),
      cursor: Cursor.optional(),
    },
    answer: data(z.object({ models: z.array(ModelView).meta({ description: 'The models of this page' }), nextCursor })),
    errors: { invalid_request: badPage },
  },
  'GET /v1/models/{providerId}/{modelId}': {
    tag: 'models',
    summary: 'Read a model and its provider',
    description: 'Anybody may read the registry. Slashes in the id of a model need not be encoded.',
    auth: 'optional',
    path: {
      providerId: Key.meta({ description: 'The id of the provider', examples: ['openai'] }),
      modelId: Key.meta({ description: 'The id of the model at its provider', examples: ['gpt-5'] }),
    },
    answer: data(OneModel),
    errors: { not_found: 'The registry has no such model of this provider. `GET /v1/models` lists those that it has.' },
  },
} as const satisfies Api
