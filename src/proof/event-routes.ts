import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { Key, Revision } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { deletionOfTrace, eventOfNamespace, eventOfTrace } from '../history/single-events.ts'
import type { RecordedEvent } from '../log/log.ts'
import { InNamespace } from '../trace/moment.ts'
import { proveEvent } from './event-proof.ts'
import type { ProofServices } from './services.ts'
import { EventProof } from './views.ts'

const tags = ['audit']
const revision = Revision.meta({ description: 'The revision of the event in its stream', examples: ['3'] })
const ofTrace = z.object({ externalId: Key, revision })
const ofNamespace = z.object({ slug: Key, revision })
const ofDeletion = z.object({
  slug: Key,
  traceId: z
    .string()
    .meta({ description: 'The id of the deleted trace', examples: ['0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b'] }),
})

/** Seconds until an event that has just been appended is covered. */
const RETRY_AFTER = '2'

const errors =
  'Errors: `not_found` (404) for what is not there or was erased, and with `Retry-After` for an event that no checkpoint ' +
  'covers yet'

/** Proofs of single events, for those who may see them. */
export const eventProofRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const answerProof = async (reply: FastifyReply, event: RecordedEvent) => {
    const proof = await proveEvent(services, event)
    if (proof) return ok(reply, proof)
    reply.header('retry-after', RETRY_AFTER)
    throw notFound()
  }

  app.get<{ Params: z.infer<typeof ofTrace>; Querystring: { namespace?: string } }>(
    '/v1/traces/:externalId/events/:revision/proof',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Proof that an event of a trace is in the log',
        description:
          'For members of its namespace: the leaf of the event, and the way from there to a signed checkpoint. ' +
          `${errors}; \`forbidden\` (403) for who is no member of a public trace’s namespace; \`unauthorized\` (401).`,
        tags,
        params: ofTrace,
        querystring: z.object({ namespace: InNamespace }),
        response: answers(EventProof, 401, 403, 404),
      },
    },
    async ({ params, query, caller }, reply) => {
      const { externalId, revision } = params
      const name = { externalId, namespace: query.namespace }
      return answerProof(reply, await eventOfTrace(services, name, BigInt(revision), caller))
    },
  )

  app.get<{ Params: z.infer<typeof ofNamespace> }>(
    '/v1/namespaces/:slug/events/:revision/proof',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Proof that an event of a namespace is in the log',
        description:
          'For its admins: of the namespace’s own events, such as who became a member. The entry is exact: that of an invite ' +
          'holds its code and its e-mail address, which admins see in the list of invites, too. ' +
          `${errors}; \`forbidden\` (403) for everybody else.`,
        tags,
        params: ofNamespace,
        response: answers(EventProof, 404),
      },
    },
    async (request, reply) => {
      const { slug, revision } = request.params
      return answerProof(reply, await eventOfNamespace(services, slug, BigInt(revision), requireCaller(request)))
    },
  )

  app.get<{ Params: z.infer<typeof ofDeletion> }>(
    '/v1/namespaces/:slug/deletions/:traceId/proof',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Proof that the deletion of a trace is in the log',
        description:
          'For admins of the namespace that it was in: who deleted it, and when. ' +
          `${errors}; \`forbidden\` (403) for everybody else.`,
        tags,
        params: ofDeletion,
        response: answers(EventProof, 404),
      },
    },
    async (request, reply) => {
      const { slug, traceId } = request.params
      return answerProof(reply, await deletionOfTrace(services, slug, traceId, requireCaller(request)))
    },
  )
}
