import type { FastifyInstance } from 'fastify'
import { attribution as api } from '../../contract/attribution.ts'
import { longBody } from '../http/body.ts'
import { requireCaller } from '../http/caller.ts'
import { route, type RouteRequest } from '../http/route.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import { ask } from './ask.ts'
import type { AttributionServices } from './services.ts'

/** The key of a namespace, and questions. */
export const attributionRoutes = (app: FastifyInstance, services: AttributionServices): void => {
  route(app, api, 'GET /v1/namespaces/{slug}/attribution-key', async (request) => {
    const caller = requireCaller(request)
    const { id: namespaceId } = await namespaceOfMember(services.reads, idOfSlug(request.params.slug), caller.userId)
    const { id, secret } = await services.lineKeys.of(namespaceId)
    return { key: { id, secret: secret.toString('base64') } }
  })

  const question = 'POST /v1/namespaces/{slug}/attributions'
  const answerQuestion = async (request: RouteRequest<(typeof api)[typeof question]>) => {
    const caller = requireCaller(request)
    const { id } = await namespaceOfMember(services.reads, idOfSlug(request.params.slug), caller.userId)
    return ask(services, id, request.body)
  }
  route(app, api, question, answerQuestion, longBody(api[question]))
}
