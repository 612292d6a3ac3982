import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import { drain } from './drain.ts'
import { isRead, setStatus } from './errors.ts'
import { HttpError } from './http-error.ts'
import { JSON_TYPE } from './reply.ts'

const STOPPING = 'The service is stopping: send the request again'
/** What clients are told while the service is opened again. */
export const REOPENING = 'The log of the service has changed, and the service is opened again: send the request again'

/** Headers that a refused answer may have. */
const ABOUT_THE_ANSWER = ['content-length', 'content-encoding', 'cache-control', 'etag', 'location', 'set-cookie']

/**
 * While the service is stopping, new requests on open connections get 503, so that clients know that nothing was stored. Once its log has
 * changed (`over`), requests in flight get 503 as well, whatever their answer was: it was made from another state than the log has now.
 */
export const installClosing = (app: FastifyInstance, over: AbortSignal): void => {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isClosing && !over.aborted) return done()
    drain(request.raw).then(() => done(new ExplainedUnavailable(over.aborted ? REOPENING : STOPPING)), done)
  })
  // No error is thrown: it would not take the place of an error that is being sent.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!over.aborted || reply.statusCode >= 500) return done(null, payload)
    if (payload instanceof Readable) payload.destroy()
    for (const name of ABOUT_THE_ANSWER) reply.removeHeader(name)
    const details = isRead(request) ? {} : { details: { stored: 'unknown' } }
    setStatus(reply, new HttpError('unavailable', REOPENING)).type(JSON_TYPE)
    done(null, JSON.stringify({ ok: false, error: { code: 'unavailable', message: REOPENING, ...details } }))
  })
}
