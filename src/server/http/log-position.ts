import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isId } from '../../base/ids.ts'
import type { Anchor, PlacedEvent } from '../../eventstore/log/log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The newest event that the request has written, or that its result rests on if there was nothing to write. */
    lastEvent: PlacedEvent | undefined
  }
}

/** The header of an answer to a write that names this event. */
export const LOG_POSITION = 'x-log-position'

const LAST_POSITION = 2n ** 63n - 1n

/** An anchor as a text for clients, which must not depend on its form. */
const logPositionOf = ({ position, id }: Anchor): string => `${position}.${id}`

/** The revision of the last event of the stream that a request has written, which is only one. */
export const writtenRevision = ({ lastEvent }: FastifyRequest): number => Number(lastEvent!.revision)

/** The anchor that such a text names; undefined for any other text. */
export const readLogPosition = (text: string): Anchor | undefined => {
  const [, digits, id] = /^(\d{1,19})\.([^.]+)$/.exec(text) ?? []
  if (digits === undefined || BigInt(digits) > LAST_POSITION || !isId(id!)) return undefined
  return { position: BigInt(digits), id: id! }
}

/** Adds the header to every 200 that answers a write, including a write that had nothing to change. */
export const installLogPosition = (app: FastifyInstance): void => {
  app.decorateRequest('lastEvent', undefined)
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.lastEvent && reply.statusCode === 200) reply.header(LOG_POSITION, logPositionOf(request.lastEvent))
    done(null, payload)
  })
}
