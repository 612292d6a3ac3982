import type { FastifyInstance, FastifyReply } from 'fastify'
import { audit } from '../../contract/proof.ts'
import { invalid, notFound } from '../http/http-error.ts'
import { route } from '../http/route.ts'
import { hashesOf, proofOf, requireCheckpoint } from './event-proof.ts'
import { parseVerifier } from './note.ts'
import { signedCheckpoints } from './queries.ts'
import type { ProofServices } from './services.ts'
import { parseTile, tileWidth } from './tiles.ts'
import { FOR_EVER, newTreeAccess } from './tree-access.ts'
import { consistencySpans, TILE_WIDTH } from './tree.ts'

const BYTES = 'application/octet-stream'

/** The routes for the hashes of the tree, tile by tile. */
const tileRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const { auth, keepNothing, keep } = newTreeAccess(services.config)

  /** `path` is the part after the level. */
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

  route(
    app,
    audit,
    'GET /v1/audit/tile/{level}/{index}',
    ({ params: { level, index } }, reply) => sendTile(reply, level, index),
    { config: { auth } },
  )

  route(
    app,
    audit,
    'GET /v1/audit/tile/{level}/{index}.p/{width}',
    ({ params: { level, index, width } }, reply) => sendTile(reply, level, `${index}.p/${width}`),
    { config: { auth } },
  )

  // An index of 1000 or more has slashes, which a route template cannot express.
  app.get<{ Params: { level: string; '*': string } }>(
    '/v1/audit/tile/:level/*',
    { config: { auth } },
    ({ params }, reply) => sendTile(reply, params.level, params['*']),
  )
}

const TEXT = 'text/plain; charset=utf-8'

/** The routes for checkpoint, key, tiles and consistency of the audit tree: only sizes and hashes, no content. */
export const treeRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const { reads, config } = services
  const { auth, keepNothing, keep } = newTreeAccess(config)

  route(
    app,
    audit,
    'GET /v1/audit/checkpoint',
    async (_request, reply) => {
      keepNothing(reply)
      const { note } = await requireCheckpoint(services)
      return keep(reply, 'no-cache').type(TEXT).send(note)
    },
    { config: { auth } },
  )

  route(
    app,
    audit,
    'GET /v1/audit/key',
    async (_request, reply) => {
      keepNothing(reply)
      const { key } = await requireCheckpoint(services)
      const keys = (await signedCheckpoints(reads)).map(({ key, from, size }) => ({ key, from, to: size }))
      const { id: logId } = await services.log.identity()
      keep(reply, 'no-cache')
      return { origin: parseVerifier(key).name, logId, key, keys }
    },
    { config: { auth } },
  )

  tileRoutes(app, services)

  route(
    app,
    audit,
    'GET /v1/audit/consistency',
    async ({ query: { from, to } }, reply) => {
      keepNothing(reply)
      const { size } = await requireCheckpoint(services)
      if (from > size || to > size) throw notFound()
      if (from > to) throw invalid('from', `must not be greater than \`to\`, which is ${to}`)
      const proof = await proofOf(services, consistencySpans(from, to))
      keep(reply, FOR_EVER)
      return { from, to, proof }
    },
    { config: { auth } },
  )
}
