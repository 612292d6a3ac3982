import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Service } from '../service.ts'

const Alive = z.object({ status: z.literal('ok'), timestamp: z.int() })
const Ready = z.object({ status: z.literal('ready'), degraded: z.array(z.string()).optional(), timestamp: z.int() })
const NotReady = z.object({ status: z.literal('not ready'), missing: z.array(z.string()), timestamp: z.int() })
const tags = ['operations']

/**
 * `/health` says that the process lives; `/health/ready` that it can serve reads and writes, and with what in need of
 * attention, or what is missing (readings: Running).
 */
export const installHealth = (app: FastifyInstance, { now, readiness }: Service): void => {
  app.get(
    '/health',
    { config: { auth: 'none' }, schema: { summary: 'Whether the process lives', tags, response: { 200: Alive } } },
    async () => ({
      status: 'ok',
      timestamp: now(),
    }),
  )

  app.get(
    '/health/ready',
    {
      config: { auth: 'none' },
      schema: { summary: 'Whether reads and writes can be served', tags, response: { 200: Ready, 503: NotReady } },
    },
    async (_request, reply) => {
      const { missing, degraded } = await readiness()
      if (missing.length === 0)
        return { status: 'ready', ...(degraded.length > 0 ? { degraded } : {}), timestamp: now() }
      return reply.code(503).header('retry-after', '1').send({ status: 'not ready', missing, timestamp: now() })
    },
  )
}
