import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { ErrorBody } from '../http/errors.ts'
import { invalid, notFound } from '../http/http-error.ts'
import { answers, ok } from '../http/reply.ts'
import { hashesOf, proofOf, requireCheckpoint } from './event-proof.ts'
import { parseVerifier } from './note.ts'
import { signedCheckpoints } from './queries.ts'
import type { ProofServices } from './services.ts'
import { parseTile, tileWidth } from './tiles.ts'
import { TILE_WIDTH, consistencySpans } from './tree.ts'
import { AuditKey, Consistency } from './views.ts'

const tags = ['audit']
const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'
/** What a tile holds never changes. */
const FOR_EVER = 'max-age=31536000, immutable'

const Size = z.string().regex(/^\d{1,15}$/, { error: 'must be a size: a whole number from 0 on' })
const Sizes = z.object({
  from: Size.meta({ description: 'The size of the older tree', examples: ['0'] }),
  to: Size.meta({ description: 'The size of the newer tree', examples: ['0'] }),
})
const level = z.string().meta({ description: 'The level of the tile: 0 has the hashes of leaves', examples: ['0'] })
const index = z.string().meta({
  description:
    'The index of the tile in groups of three digits, all but the last with an `x`: tile 5 is `005`, tile 1234067 is ' +
    '`x001/x234/067`. Its slashes are sent as they are, or as `%2F`',
  examples: ['005'],
})
const width = z.string().meta({ description: 'How many hashes of it: 1 to 255', examples: ['8'] })
const Tile = z.object({ level, index })
const PartialTile = Tile.extend({ width })

/** Checkpoint, key, tiles and consistency of the audit tree: sizes and hashes, no content. */
export const auditRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const { reads, config } = services
  const isPublic = config.AUDIT_PUBLIC === 'on'
  const auth = isPublic ? ('none' as const) : ('required' as const)

  /** A refusal is not to be kept: the tree grows. */
  const keepNothing = (reply: FastifyReply) => reply.header('cache-control', 'no-store')
  const keep = (reply: FastifyReply, how: string) =>
    reply.header('cache-control', `${isPublic ? 'public' : 'private'}, ${how}`)

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
        response: answers(AuditKey, 404),
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

  /** `path` is what lies behind the level. */
  const sendTile = async (reply: FastifyReply, level: string, path: string) => {
    keepNothing(reply)
    const tile = parseTile(level, path)
    if (!tile) throw notFound()
    const { index, width } = tile
    const { size } = await requireCheckpoint(services)
    if (width > tileWidth(tile.level, index, size)) throw notFound()
    const from = index * TILE_WIDTH
    const hashes = await hashesOf(services, { level: tile.level, from, to: from + width })
    return keep(reply, FOR_EVER).type(BYTES).send(hashes)
  }

  const ofTile = {
    tags,
    produces: [BYTES],
    response: { 200: z.string().meta({ format: 'binary' }), 404: ErrorBody },
  }
  const tileErrors = 'Entries are not served. Errors: `not_found` (404) for what the newest checkpoint does not cover.'

  app.get<{ Params: z.infer<typeof Tile> }>(
    '/v1/audit/tile/:level/:index',
    {
      config: { auth },
      schema: {
        ...ofTile,
        summary: 'A full tile of hashes of the tree',
        description: `As in C2SP \`tlog-tiles\`: 256 hashes of 32 bytes. ${tileErrors}`,
        params: Tile,
      },
    },
    ({ params: { level, index } }, reply) => sendTile(reply, level, index),
  )

  app.get<{ Params: z.infer<typeof PartialTile> }>(
    '/v1/audit/tile/:level/:index.p/:width',
    {
      config: { auth },
      schema: {
        ...ofTile,
        operationId: 'getAuditPartialTile',
        summary: 'The beginning of a tile of hashes of the tree',
        description: `As in C2SP \`tlog-tiles\`, of a tile that is not full yet: \`width\` hashes of 32 bytes. ${tileErrors}`,
        params: PartialTile,
      },
    },
    ({ params: { level, index, width } }, reply) => sendTile(reply, level, `${index}.p/${width}`),
  )

  // An index from 1000 on has slashes, which no template can say.
  app.get<{ Params: { level: string; '*': string } }>(
    '/v1/audit/tile/:level/*',
    { config: { auth }, schema: { hide: true } },
    ({ params }, reply) => sendTile(reply, params.level, params['*']),
  )

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
