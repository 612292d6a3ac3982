import type { FastifyInstance, FastifyReply } from 'fastify'
import { audit } from '../contract/proof.ts'
import { notFound } from '../http/http-error.ts'
import { route } from '../http/route.ts'
import { hashesOf, requireCheckpoint } from './event-proof.ts'
import type { ProofServices } from './services.ts'
import { parseTile, tileWidth } from './tiles.ts'
import { FOR_EVER, newTreeAccess } from './tree-access.ts'
import { TILE_WIDTH } from './tree.ts'

const BYTES = 'application/octet-stream'

/** The routes for the hashes of the tree, tile by tile. */
export const tileRoutes = (app: FastifyInstance, services: ProofServices): void => {
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
