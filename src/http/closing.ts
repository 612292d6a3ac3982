import type { FastifyInstance } from 'fastify'
import { Unavailable } from '../engine/rejected.ts'
import { drain } from './drain.ts'

/**
 * From the moment that the service is told to stop it takes nothing new: what still arrives on open connections is
 * refused like everything else that cannot be done now, so that clients know that nothing was stored.
 */
export const installClosing = (app: FastifyInstance): void => {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', async (request) => {
    if (!isClosing) return
    await drain(request.raw)
    throw new Unavailable('the service is stopping')
  })
}
