import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Key } from '../../contract/parameters.ts'
import { notFound } from '../http/http-error.ts'
import { addressFor } from '../http/origin.ts'
import { sendPage } from '../pages/page.ts'
import { canGoOn, continuePage } from '../pages/trace-continue.ts'
import { beginningOf } from '../trace/messages/beginnings.ts'
import { placeOf } from '../trace/messages/places.ts'
import { shortened } from '../../transcript/preview.ts'
import { TraceParams } from './trace-params.ts'
import { type ShownServices, showTrace } from './trace-shown.ts'

type Services = ShownServices & { readonly config: { readonly PUBLIC_URL?: string | undefined } }

const Query = z.object({ m: Key.optional() })

/** `GET /@{slug}/{externalId}/-/continue?m={messageExternalId}`: the command that continues a session, as a whole or from a message. */
export const traceContinueRoute = (app: FastifyInstance, services: Services): void => {
  const { reads, config } = services
  app.get<{ Params: TraceParams; Querystring: z.infer<typeof Query> }>(
    '/@:slug/:externalId/-/continue',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams, querystring: Query } },
    async (request, reply) => {
      const {
        caller,
        params,
        query: { m },
      } = request
      const { slug, trace, head, fields } = await showTrace(services, params, caller)
      const shown = { slug, externalId: trace.external_id, agentId: String(fields.get('agentId')) }
      if (!canGoOn(shown)) throw notFound()
      if (m !== undefined && (await placeOf(reads, trace, m)) === undefined) throw notFound()
      const message = m === undefined ? undefined : { id: m, text: shortened(await beginningOf(reads, trace, m)) }
      const addresses = { service: app.printedAddress(), address: addressFor(config, request) }
      const isPublic = trace.visibility === 'public'
      return sendPage(reply, continuePage({ ...shown, ...addresses, title: head.title, message, isPublic }))
    },
  )
}
