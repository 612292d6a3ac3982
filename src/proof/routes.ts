import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ErrorBody } from '../http/errors.ts'
import { invalid, notFound } from '../http/http-error.ts'
import { answers, ok } from '../http/reply.ts'
import { proofOf, requireCheckpoint } from './event-proof.ts'
import { parseVerifier } from './note.ts'
import { signedCheckpoints } from './queries.ts'
import type { ProofServices } from './services.ts'
import { tileRoutes } from './tile-routes.ts'
import { FOR_EVER, newTreeAccess } from './tree-access.ts'
import { consistencySpans } from './tree.ts'
import { Consistency, LogKey } from './views.ts'

const tags = ['audit']
const TEXT = 'text/plain; charset=utf-8'

const Size = z.string().regex(/^\d{1,15}$/, { error: 'must be a size: a whole number from 0 on' })
const Sizes = z.object({
  from: Size.meta({ description: 'The size of the older tree', examples: ['0'] }),
  to: Size.meta({ description: 'The size of the newer tree', examples: ['0'] }),
})

/** Checkpoint, key, tiles and consistency of the audit tree: sizes and hashes, no content. */
export const treeRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const { reads, config } = services
  const { auth, keepNothing, keep } = newTreeAccess(config)

  app.get(
    '/v1/audit/checkpoint',
    {
      config: { auth },
      schema: {
        summary: 'The newest signed checkpoint of the log',
        description:
          'A signed note (C2SP `tlog-checkpoint`): origin, size and root of the Merkle tree over all events, at most 10 s ' +
          'behind the log. Errors: `not_found` (404) where the operator has set no key.',
        tags,
        produces: ['text/plain'],
        response: { 200: z.string(), 404: ErrorBody },
      },
    },
    async (_request, reply) => {
      keepNothing(reply)
      const { note } = await requireCheckpoint(services)
      return keep(reply, 'no-cache').type(TEXT).send(note)
    },
  )

  app.get(
    '/v1/audit/key',
    {
      config: { auth },
      schema: {
        summary: 'The key that signs the checkpoints',
        description:
          'In the verifier form of signed notes. `keys` are all that have signed, the newest first: what an older one has ' +
          'signed stays valid. Whoever checks the log should know its key from elsewhere, too. Errors: `not_found` (404).',
        tags,
        response: answers(LogKey, 404),
      },
    },
    async (_request, reply) => {
      keepNothing(reply)
      const { key } = await requireCheckpoint(services)
      const keys = (await signedCheckpoints(reads)).map(({ key, from, size }) => ({ key, from, to: size }))
      const { id: logId } = await services.log.identity()
      return ok(keep(reply, 'no-cache'), { origin: parseVerifier(key).name, logId, key, keys })
    },
  )

  tileRoutes(app, services)

  app.get<{ Querystring: z.infer<typeof Sizes> }>(
    '/v1/audit/consistency',
    {
      config: { auth },
      schema: {
        summary: 'Proof that the tree of one size begins with the tree of another',
        description:
          'For those without a client for tiles (RFC 6962, section 2.1.2). Errors: `invalid_request` (400) where `from` is ' +
          'beyond `to`; `not_found` (404) for a size that the newest checkpoint does not cover.',
        tags,
        querystring: Sizes,
        response: answers(Consistency, 404),
      },
    },
    async ({ query }, reply) => {
      keepNothing(reply)
      const [from, to] = [Number(query.from), Number(query.to)]
      const { size } = await requireCheckpoint(services)
      if (from > size || to > size) throw notFound()
      if (from > to) throw invalid('from', 'must not be beyond `to`')
      const proof = await proofOf(services, consistencySpans(from, to))
      return ok(keep(reply, FOR_EVER), { from, to, proof })
    },
  )
}
