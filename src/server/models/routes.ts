import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ReadTables } from '../../tables/main.ts'
import { type OneModel, type ProviderView, models } from '../../contract/models.ts'
import { DEFAULT_LIMIT, Key } from '../../contract/parameters.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { notFound } from '../http/http-error.ts'
import { type JsonText, jsonText } from '../http/json-text.ts'
import { fittingTexts } from '../http/list-page.ts'
import { jsonArray, okText } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { type ModelWithProviderRow, findModel, listModels, modelCursor, parseModelCursor } from './queries.ts'

/** For paths in which the slashes of a model's id are not encoded. */
const WildParams = z.object({ providerId: Key, '*': Key })

/** The JSON of a provider, from its row. */
const providerText = (
  providerId: string,
  { name, env, npm, api, doc }: ModelWithProviderRow,
): JsonText<z.output<typeof ProviderView>> =>
  jsonText({ providerId: JSON.stringify(providerId), name, env, npm, api, doc })

/** Routes to read the model registry, without authentication. */
export const modelRoutes = (app: FastifyInstance, { reads }: { readonly reads: Reads<ReadTables> }): void => {
  route(app, models, 'GET /v1/models', async ({ query: { provider, q, limit = DEFAULT_LIMIT, cursor } }) => {
    const after = parseModelCursor(cursor)
    if (limit === 0) return { models: [] }
    const rows = await listModels(reads, { provider, q, after, limit: limit + 1 })
    const bodies = rows.map(({ body }) => body)
    const count = fittingTexts(bodies, limit)
    return jsonText({
      models: jsonArray(bodies.slice(0, count)),
      nextCursor: rows.length > count ? `"${modelCursor(rows[count - 1]!)}"` : undefined,
    })
  })

  const one = async (providerId: string, modelId: string) => {
    const row = await findModel(reads, providerId, modelId)
    if (!row) throw notFound()
    return jsonText<OneModel>({ model: row.body, provider: providerText(providerId, row) })
  }

  route(app, models, 'GET /v1/models/{providerId}/{modelId}', ({ params: { providerId, modelId } }) =>
    one(providerId, modelId),
  )

  app.get<{ Params: z.infer<typeof WildParams> }>(
    '/v1/models/:providerId/*',
    { config: { auth: 'optional' }, schema: { params: WildParams } },
    async ({ params }, reply) => okText(reply, await one(params.providerId, params['*'])),
  )
}
