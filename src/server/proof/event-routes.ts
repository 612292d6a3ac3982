import type { FastifyInstance, FastifyReply } from 'fastify'
import { audit } from '../../contract/proof.ts'
import { requireCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { deletionOfTrace, eventOfNamespace, eventOfTrace } from '../history/single-events.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { proveEvent } from './event-proof.ts'
import { notCovered } from './not-covered.ts'
import type { ProofServices } from './services.ts'

/** Proofs of single events, for callers who may see them. */
export const eventProofRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const prove = async (reply: FastifyReply, event: RecordedEvent) => {
    const proof = await proveEvent(services, event)
    if (!proof) throw notCovered(reply)
    return proof
  }

  route(
    app,
    audit,
    'GET /v1/traces/{externalId}/events/{revision}/proof',
    async ({ params: { externalId, revision }, query: { namespace }, caller }, reply) =>
      prove(reply, await eventOfTrace(services, { externalId, namespace }, revision, caller)),
  )

  route(app, audit, 'GET /v1/namespaces/{slug}/events/{revision}/proof', async (request, reply) => {
    const { slug, revision } = request.params
    return prove(reply, await eventOfNamespace(services, slug, revision, requireCaller(request)))
  })

  route(app, audit, 'GET /v1/namespaces/{slug}/deletions/{traceId}/proof', async (request, reply) => {
    const { slug, traceId } = request.params
    return prove(reply, await deletionOfTrace(services, slug, traceId, requireCaller(request)))
  })
}
