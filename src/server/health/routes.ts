import type { FastifyInstance } from 'fastify'
import { SERVICE, actAs } from '../../base/current-client.ts'
import { type Alive, type NotReady, type Ready, operations } from '../../contract/operations.ts'
import { route } from '../http/route.ts'
import type { Readiness } from './read-models.ts'

type HealthOptions = {
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
  readonly readiness: () => Promise<Readiness>
}

/** The routes `/health`, whether the process is alive, and `/health/ready`, whether it can serve reads and writes. */
export const healthRoutes = (app: FastifyInstance, { now, readiness }: HealthOptions): void => {
  /** The running check, which concurrent requests share. */
  let checking: Promise<Readiness> | undefined

  route(app, operations, 'GET /health', (_request, reply) =>
    reply.send({ status: 'ok', timestamp: now() } satisfies Alive),
  )

  route(app, operations, 'GET /health/ready', async (_request, reply) => {
    checking ??= actAs(SERVICE, readiness).finally(() => (checking = undefined))
    const { missing, degraded } = await checking
    if (missing.length > 0)
      return reply
        .code(503)
        .header('retry-after', '1')
        .send({ status: 'not ready', missing: [...missing], timestamp: now() } satisfies NotReady)
    const attention = degraded.length > 0 ? { degraded: [...degraded] } : {}
    return reply.send({ status: 'ready', ...attention, timestamp: now() } satisfies Ready)
  })
}
