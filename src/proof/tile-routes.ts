import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { ErrorBody } from '../http/errors.ts'
import { notFound } from '../http/http-error.ts'
import { hashesOf, requireCheckpoint } from './event-proof.ts'
import type { ProofServices } from './services.ts'
import { parseTile, tileWidth } from './tiles.ts'
import { FOR_EVER, newTreeAccess } from './tree-access.ts'
import { TILE_WIDTH } from './tree.ts'

const tags = ['audit']
const BYTES = 'application/octet-stream'

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

/** The hashes of the tree, tile by tile. */
export const tileRoutes = (app: FastifyInstance, services: ProofServices): void => {
  const { auth, keepNothing, keep } = newTreeAccess(services.config)

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
}
