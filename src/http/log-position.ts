import type { FastifyInstance } from 'fastify'
import { isId } from '../base/ids.ts'
import type { Anchor } from '../log/log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The last event of what the request wrote, or of what it found written; of several the last in the log. */
    anchor: Anchor | undefined
  }
}

/** The header by which an answer to a write names the last event that it stands for. */
export const LOG_POSITION = 'x-log-position'

const LAST_POSITION = 2n ** 63n - 1n

/** An anchor as clients keep it. They must not look into it. */
const logPositionOf = ({ position, id }: Anchor): string => `${position}.${id}`

/** The anchor that a text of a client names; undefined for any other text. */
export const readLogPosition = (text: string): Anchor | undefined => {
  const [, digits, id] = /^(\d{1,19})\.([^.]+)$/.exec(text) ?? []
  if (digits === undefined || BigInt(digits) > LAST_POSITION || !isId(id!)) return undefined
  return { position: BigInt(digits), id: id! }
}

/** Adds the header to every answer of 200 to a request that has written, or found that there was nothing to write. */
export const installLogPosition = (app: FastifyInstance): void => {
  app.decorateRequest('anchor', undefined)
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.anchor && reply.statusCode === 200) reply.header(LOG_POSITION, logPositionOf(request.anchor))
    done(null, payload)
  })
}
