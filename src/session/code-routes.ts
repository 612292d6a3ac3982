import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { requireCaller } from '../http/caller.ts'
import { text, time } from '../contract/fields.ts'
import { answers, ok } from '../http/reply.ts'
import { codeTermsOf } from './one-time-codes.ts'
import { EXAMPLE_CODE } from './views.ts'
import type { SessionServices } from './services.ts'

const LIFETIME_MS = 10 * 60 * 1_000

const DeviceCode = z
  .object({
    code: text(
      'What the new device sends as `joinCode` of `POST /v1/session`; shown here and never again',
      EXAMPLE_CODE,
    ),
    expiresAt: time('When the code ends: after 10 minutes'),
  })
  .meta({ id: 'DeviceCode', description: 'A one-time code for another device of the same user' })

/** The route that makes codes for other devices of the caller. */
export const codeRoutes = (app: FastifyInstance, { codes }: SessionServices): void => {
  app.post(
    '/v1/session/device',
    {
      config: { auth: 'required', limit: 'sign-in' },
      schema: {
        summary: 'Make a code by which another device becomes one of yours',
        description:
          'Give the code to a device of your own that has no user yet: it sends it as `joinCode` of `POST /v1/session`, ' +
          'and is then an identity of your user, with the same rights as this one. The code works once, for ten ' +
          'minutes, and only while this session is valid. `GET /v1/user/identities` lists your devices, ' +
          '`DELETE /v1/user/identities/{id}` removes one. Errors: `rate_limited` (429) beyond 60 calls a minute from ' +
          'one address (default).',
        tags: ['sessions'],
        response: answers(DeviceCode),
      },
    },
    async (request, reply) => {
      const made = await codes.make('join', codeTermsOf(requireCaller(request)), LIFETIME_MS)
      return ok(reply.header('cache-control', 'no-store'), made)
    },
  )
}
