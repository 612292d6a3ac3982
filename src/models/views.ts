import { z } from 'zod'
import { jsonObject } from '../http/reply.ts'
import { Model } from './events.ts'
import type { OneModelRow } from './queries.ts'

/** Answers are joined from stored JSON text; these schemas describe them. */
export const ModelView = Model.extend({
  providerId: z.string(),
  modelId: z.string(),
  normalizedId: z.string(),
}).meta({ id: 'Model' })

export const ProviderView = z
  .object({
    providerId: z.string(),
    name: z.string(),
    env: z.array(z.string()),
    npm: z.string(),
    api: z.string().optional(),
    doc: z.string(),
  })
  .meta({ id: 'ModelProvider' })

export const providerText = (providerId: string, { name, env, npm, api, doc }: OneModelRow): string =>
  jsonObject({ providerId: JSON.stringify(providerId), name, env, npm, api, doc })
