import type { FastifyInstance } from 'fastify'
import { sessions } from '../contract/sessions.ts'
import { requireCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { codeTermsOf } from './one-time-codes.ts'
import type { SessionServices } from './services.ts'

const LIFETIME_MS = 10 * 60 * 1_000

/** The route that makes codes for other devices of the caller. */
export const codeRoutes = (app: FastifyInstance, { codes }: SessionServices): void =>
  route(
    app,
    sessions,
    'POST /v1/session/device',
    async (request, reply) => {
      const made = await codes.make('join', codeTermsOf(requireCaller(request)), LIFETIME_MS)
      reply.header('cache-control', 'no-store')
      return made
    },
    { config: { limit: 'sign-in' } },
  )
