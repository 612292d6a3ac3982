import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { TraceDetail } from '../../contract/trace.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { agentAndModel } from '../../transcript/agent-names.ts'
import { invalid, notFound } from '../http/http-error.ts'
import { originOf, targetOrigin } from '../http/origin.ts'
import type { HttpConfig } from '../http/settings.ts'
import { readTracePath, tracePath } from '../pages/links.ts'
import { titleOfTrace } from '../pages/trace-actions.ts'
import { locateWhereverMoved } from '../trace/locate.ts'
import { shownRow } from '../trace/model-names.ts'
import type { TraceServices } from '../trace/services.ts'
import { detailText } from '../trace/views.ts'
import { personOf } from './trace-shown.ts'

const Query = z.object({ url: z.string().max(16_384), format: z.string().optional() })

const isUnauthorized = (error: unknown): boolean => error instanceof Rejected && error.code === 'unauthorized'

/**
 * `GET /oembed?url=…` (oembed.com): what other programs show of a link to a public trace. Everybody may ask, so a trace that
 * is not public answers 404, like one that does not exist. The type is `link`, because no page of the service may be shown in a frame.
 */
export const oembedRoute = (app: FastifyInstance, service: TraceServices & { readonly config: HttpConfig }): void => {
  const { reads, models, config } = service
  app.get<{ Querystring: z.infer<typeof Query> }>(
    '/oembed',
    { config: { auth: 'none' }, schema: { querystring: Query } },
    async (request, reply) => {
      const { url, format = 'json' } = request.query
      if (format !== 'json') throw invalid('format', 'must be `json`, the only format of this service')
      const origin = config.PUBLIC_URL === undefined ? targetOrigin(request) : originOf(app, config)
      const named = readTracePath(URL.parse(url), origin)
      if (!named) throw notFound()
      const { trace: row } = await locateWhereverMoved(reads, named, undefined).catch((error: unknown) => {
        throw isUnauthorized(error) ? notFound() : error
      })
      const trace = JSON.parse(detailText(shownRow(await models.known(), row))) as TraceDetail
      const { slug } = trace.namespace
      const author = (await personOf(reads, row)) ?? agentAndModel(trace)
      reply.header('cache-control', 'no-store')
      return reply.send({
        version: '1.0',
        type: 'link',
        title: titleOfTrace(trace),
        ...(author === '' ? {} : { author_name: author }),
        provider_name: 'Tracebook',
        provider_url: `${origin}/`,
        url: `${origin}${tracePath(slug, trace.externalId)}`,
      })
    },
  )
}
