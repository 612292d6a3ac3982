import type { ReadTables } from '../../projections/index.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { notFound } from '../http/http-error.ts'
import { nextCursor } from '../http/fields.ts'
import { DEFAULT_LIMIT, Key, Limit, limitOf } from '../http/parameters.ts'
import { fittingTexts } from '../http/page-bytes.ts'
import { answers, jsonArray, ok, okText } from '../http/reply.ts'
import { findModel, listModels, modelCursor, parseModelCursor } from './queries.ts'
import { ModelView, ProviderView, providerJson } from './views.ts'
import type { Reads } from '../engine/reads.ts'

const Query = z.object({
  provider: Key.optional(),
  q: Key.optional(),
  limit: Limit.optional(),
  cursor: z.string().optional(),
})
const Params = z.object({ providerId: Key, modelId: Key })
const WildParams = z.object({ providerId: Key, '*': Key })
const List = z.object({ models: z.array(ModelView).meta({ description: 'The models of this page' }), nextCursor })
const One = z.object({ model: ModelView, provider: ProviderView })
const tags = ['models']

/** Routes to read the model registry, without authentication. */
export const modelRoutes = (app: FastifyInstance, { reads }: { readonly reads: Reads<ReadTables> }): void => {
  app.get<{ Querystring: z.infer<typeof Query> }>(
    '/v1/models',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'List the models of the registry, of one provider or with all words of `q`',
        description:
          'Anybody may read it. By provider and id, 50 a page if `limit` does not say otherwise. Empty where the ' +
          'operator has no catalogue. Errors: `invalid_request` (400) for a `limit` or `cursor` that is none.',
        tags,
        querystring: Query,
        response: answers(List),
      },
    },
    async ({ query: { provider, q, limit: given, cursor } }, reply) => {
      const limit = limitOf(given) ?? DEFAULT_LIMIT
      const after = parseModelCursor(cursor)
      if (limit === 0) return ok(reply, { models: [] })
      const rows = await listModels(reads, { provider, q, after, limit: limit + 1 })
      const bodies = rows.map(({ body }) => body)
      const count = fittingTexts(bodies, limit)
      const next = rows.length > count ? `,"nextCursor":"${modelCursor(rows[count - 1]!)}"` : ''
      return okText(reply, `{"models":${jsonArray(bodies.slice(0, count))}${next}}`)
    },
  )

  const one = async (reply: FastifyReply, providerId: string, modelId: string) => {
    const row = await findModel(reads, providerId, modelId)
    if (!row) throw notFound()
    return okText(reply, `{"model":${row.body},"provider":${providerJson(providerId, row)}}`)
  }

  app.get<{ Params: z.infer<typeof Params> }>(
    '/v1/models/:providerId/:modelId',
    {
      config: { auth: 'optional' },
      schema: {
        summary: "Read a model and its provider; slashes in a model's id may stand as they are",
        description: 'Anybody may read it. Errors: `not_found` (404).',
        tags,
        params: Params,
        response: answers(One, 404),
      },
    },
    ({ params: { providerId, modelId } }, reply) => one(reply, providerId, modelId),
  )

  app.get<{ Params: z.infer<typeof WildParams> }>(
    '/v1/models/:providerId/*',
    { config: { auth: 'optional' }, schema: { hide: true, params: WildParams } },
    ({ params }, reply) => one(reply, params.providerId, params['*']),
  )
}
