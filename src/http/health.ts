import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { time } from '../contract/fields.ts'

const timestamp = time('What the clock of the service says')
const reasons = (description: string, example: string) =>
  z.array(z.string()).meta({ description, examples: [[example]] })

const Alive = z.object({ status: z.literal('ok').meta({ description: 'Always `ok`' }), timestamp })
const Ready = z.object({
  status: z.literal('ready').meta({ description: 'That requests can be served' }),
  degraded: reasons('What works, but needs attention', 'summaries').optional(),
  timestamp,
})
const NotReady = z.object({
  status: z.literal('not ready').meta({ description: 'That something is missing' }),
  missing: reasons('What is missing', 'log'),
  timestamp,
})
const tags = ['operations']

/** Problems, in words: `missing` are those that make the service not ready, `degraded` all others. */
export type Readiness = { readonly missing: readonly string[]; readonly degraded: readonly string[] }

export type HealthOptions = {
  /** The clock, in milliseconds. */
  readonly now: () => number
  readonly readiness: () => Promise<Readiness>
}

/** The routes `/health`, whether the process is alive, and `/health/ready`, whether it can serve reads and writes. */
export const installHealth = (app: FastifyInstance, { now, readiness }: HealthOptions): void => {
  /** The running check, which concurrent requests share. */
  let checking: Promise<Readiness> | undefined

  app.get(
    '/health',
    {
      config: { auth: 'none' },
      schema: {
        summary: 'Whether the process lives',
        description: 'For supervisors. Answers 200 as long as the process answers at all, whatever else is away.',
        tags,
        response: { 200: Alive },
      },
    },
    async () => ({
      status: 'ok',
      timestamp: now(),
    }),
  )

  app.get(
    '/health/ready',
    {
      config: { auth: 'none' },
      schema: {
        summary: 'Whether reads and writes can be served',
        description:
          'For load balancers. 200 when requests can be served, with `degraded` for what needs attention, such as a disk that is ' +
          'nearly full, which refuses writes; else 503 with `missing`, and `Retry-After`.',
        tags,
        response: { 200: Ready, 503: NotReady },
      },
    },
    async (_request, reply) => {
      checking ??= readiness().finally(() => (checking = undefined))
      const { missing, degraded } = await checking
      if (missing.length === 0)
        return { status: 'ready', ...(degraded.length > 0 ? { degraded } : {}), timestamp: now() }
      return reply.code(503).header('retry-after', '1').send({ status: 'not ready', missing, timestamp: now() })
    },
  )
}
