import type { FastifyInstance } from 'fastify'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import { drain } from './drain.ts'

/** While the service is stopping, new requests on open connections get 503, so that clients know that nothing was stored. */
export const installClosing = (app: FastifyInstance): void => {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isClosing) return done()
    drain(request.raw).then(
      () => done(new ExplainedUnavailable('The service is stopping: send the request again')),
      done,
    )
  })
}
