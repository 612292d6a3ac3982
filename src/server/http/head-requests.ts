import { Readable } from 'node:stream'
import type { FastifyInstance, onSendHookHandler } from 'fastify'

/** Sends the headers of an answer. A page that is made piece by piece ends before its first piece. */
const withoutBody: onSendHookHandler = (_request, reply, payload, done) => {
  if (payload instanceof Readable) payload.destroy()
  else reply.header('content-length', Buffer.byteLength((payload ?? '') as string | Buffer))
  done(null, null)
}

/**
 * Makes pages that are registered later answer HEAD as they answer GET, with the same rights, for link checkers and previews. A page at the end of
 * a sign-in accepts GET only, because opening it uses up its one-time code.
 */
export const answerHead = (app: FastifyInstance): void => {
  app.addHook('onRoute', (route) => {
    const { method, url, config, schema, handler } = route
    if (method !== 'GET' || config?.htmlPage !== true || config.limit === 'sign-in') return
    app.route({ method: 'HEAD', url, config, handler, onSend: withoutBody, ...(schema ? { schema } : {}) })
  })
}
