import type { z } from 'zod'
import type { ProviderView } from '../contract/models.ts'
import { type JsonText, jsonText } from '../http/json-text.ts'
import type { ModelWithProviderRow } from './queries.ts'

/** The JSON of a provider, from its row. */
export const providerText = (
  providerId: string,
  { name, env, npm, api, doc }: ModelWithProviderRow,
): JsonText<z.output<typeof ProviderView>> =>
  jsonText({ providerId: JSON.stringify(providerId), name, env, npm, api, doc })
