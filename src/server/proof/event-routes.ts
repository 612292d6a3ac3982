import type { FastifyInstance } from 'fastify'
import { audit } from '../../contract/proof.ts'
import { requireCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { deletionOfTrace, eventOfNamespace, eventOfTrace } from '../history/single-events.ts'
import { proveEvent } from './event-proof.ts'
import type { ProofServices } from './services.ts'

/** Proofs of single events, for callers who may see them. */
export const eventProofRoutes = (app: FastifyInstance, services: ProofServices): void => {
  route(
    app,
    audit,
    'GET /v1/traces/{externalId}/events/{revision}/proof',
    async ({ params: { externalId, revision }, query: { namespace }, caller }) =>
      proveEvent(services, await eventOfTrace(services, { externalId, namespace }, revision, caller)),
  )

  route(app, audit, 'GET /v1/namespaces/{slug}/events/{revision}/proof', async (request) => {
    const { slug, revision } = request.params
    return proveEvent(services, await eventOfNamespace(services, slug, revision, requireCaller(request)))
  })

  route(app, audit, 'GET /v1/namespaces/{slug}/deletions/{traceId}/proof', async (request) => {
    const { slug, traceId } = request.params
    return proveEvent(services, await deletionOfTrace(services, slug, traceId, requireCaller(request)))
  })
}
