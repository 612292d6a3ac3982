import { z } from 'zod'
import { text } from '../http/fields.ts'
import { jsonObject } from '../http/reply.ts'
import { Model } from './events.ts'
import type { ModelWithProviderRow } from './queries.ts'

/** Answers are joined from stored JSON text. These schemas only describe them in the OpenAPI document. */
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

/** The JSON of a `ProviderView`. */
export const providerJson = (providerId: string, { name, env, npm, api, doc }: ModelWithProviderRow): string =>
  jsonObject({ providerId: JSON.stringify(providerId), name, env, npm, api, doc })
