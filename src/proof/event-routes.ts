import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { Key, Revision } from '../http/keys.ts'
import { answers, ok } from '../http/reply.ts'
import { isId } from '../ids.ts'
import type { RecordedEvent } from '../log/log.ts'
import { idOfSlug, namespaceOfAdmin } from '../namespace/queries.ts'
import { memberOf, resolveTrace, traceDetail } from '../trace/queries.ts'
import { proveEvent } from './event-proof.ts'
import { assertMayReadHistory } from './history-policy.ts'
import { deletionOf, eventAt } from './queries.ts'
import type { ProofServices } from './services.ts'
import { EventProof } from './views.ts'

const tags = ['audit']
const revision = Revision.meta({ description: 'The revision of the event in its stream', examples: ['3'] })
const ofTrace = z.object({ externalId: Key, revision })
const ofNamespace = z.object({ slug: Key, revision })
const ofDeletion = z.object({ slug: Key, traceId: z.string().meta({ description: 'The id of the deleted trace' }) })

/** Seconds until an event that has just been appended is covered. */
const RETRY_AFTER = '2'

const errors =
  'Errors: `not_found` (404) for what is not there or was erased, and with `Retry-After` for an event that no checkpoint ' +
  'covers yet'

/** Proofs of single events, for those who may see them. */
export const eventProofRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const { reads, log } = services

  const answerProof = async (reply: FastifyReply, event: RecordedEvent | undefined) => {
    if (!event) throw notFound()
    const proof = await proveEvent(services, event)
    if (proof) return ok(reply, proof)
    reply.header('retry-after', RETRY_AFTER)
    throw notFound()
  }

  app.get<{ Params: z.infer<typeof ofTrace> }>(
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
        response: answers(EventProof, 401, 403, 404),
      },
    },
    async ({ params, caller }, reply) => {
      const hit = await resolveTrace(reads, params.externalId, caller)
      if (!hit) throw notFound()
      assertMayReadHistory(hit, memberOf(caller, hit))
      const at = BigInt(params.revision)
      const trace = await traceDetail(reads, hit.id)
      // Events of an earlier trace with this externalId are none of this one's.
      if (!trace || at < trace.incarnation) throw notFound()
      return answerProof(reply, await eventAt(log, `trace-${hit.id}`, at))
    },
  )

  app.get<{ Params: z.infer<typeof ofNamespace> }>(
    '/v1/namespaces/:slug/events/:revision/proof',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Proof that an event of a namespace is in the log',
        description:
          'For its admins: of the namespace’s own events, such as who became a member. ' +
          `${errors}; \`forbidden\` (403) for everybody else.`,
        tags,
        params: ofNamespace,
        response: answers(EventProof, 404),
      },
    },
    async (request, reply) => {
      const { slug, revision } = request.params
      const { id } = await namespaceOfAdmin(reads, idOfSlug(slug), requireCaller(request))
      return answerProof(reply, await eventAt(log, `namespace-${id}`, BigInt(revision)))
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
      const { id } = await namespaceOfAdmin(reads, idOfSlug(slug), requireCaller(request))
      return answerProof(reply, await deletionIn(services, id, traceId))
    },
  )
}

/** The newest deletion of a trace that was in this namespace. */
const deletionIn = async (
  { reads, log }: ProofServices,
  namespaceId: string,
  traceId: string,
): Promise<RecordedEvent | undefined> => {
  const revision = isId(traceId) ? await deletionOf(reads, traceId) : undefined
  if (revision === undefined) return undefined
  const event = await eventAt(log, `trace-${traceId}`, revision)
  if (event?.type !== 'TraceDeleted') return undefined
  return (JSON.parse(event.data) as { namespaceId: string }).namespaceId === namespaceId ? event : undefined
}
