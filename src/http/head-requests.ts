import { Readable } from 'node:stream'
import type { FastifyInstance, onSendHookHandler } from 'fastify'

/** Sends the headers of an answer. A page that is made piece by piece ends before its first piece. */
const withoutBody: onSendHookHandler = (_request, reply, payload, done) => {
  if (payload instanceof Readable) payload.destroy()
  else reply.header('content-length', Buffer.byteLength((payload ?? '') as string | Buffer))
  done(null, null)
}

/**
 * Has pages that are registered after it answer HEAD as they answer GET, with the same rights: link checkers and previews ask so. A page at the
 * end of a sign-in uses up what it is given, and takes GET only.
 */
export const answerHead = (app: FastifyInstance): void => {
  app.addHook('onRoute', (route) => {
    const { method, url, config, schema, handler } = route
    if (method !== 'GET' || config?.htmlPage !== true || config.limit === 'sign-in') return
    app.route({ method: 'HEAD', url, config, handler, onSend: withoutBody, ...(schema ? { schema } : {}) })
  })
}
