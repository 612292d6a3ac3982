import { z } from 'zod'

/** The codes of errors, each with the status that its answer has. */
export const errors = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  csrf_failed: 403,
  quota_exceeded: 403,
  not_found: 404,
  method_not_allowed: 405,
  last_admin: 409,
  last_identity: 409,
  device_known: 409,
  invite_revoked: 410,
  invite_expired: 410,
  invite_used: 410,
  code_used: 410,
  code_expired: 410,
  deleted: 410,
  payload_too_large: 413,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof errors

/** The body of every answer to a call that failed. */
export const ErrorBody = z
  .object({
    ok: z.literal(false).meta({ description: 'That the call failed' }),
    error: z
      .object({
        code: z.string().meta({ description: 'What went wrong, for programs', examples: ['invalid_request'] }),
        message: z.string().meta({
          description: 'What went wrong, for people',
          examples: ['Invalid request'],
        }),
        details: z
          .unknown()
          .meta({
            description:
              'For `invalid_request`: `formErrors` and, by field, `fieldErrors`. For `unavailable` after a write: ' +
              '`stored`, whether it was stored all the same (`true`, `false` or `"unknown"`). For `deleted`: `deletedAt`',
            examples: [{ formErrors: [], fieldErrors: { deviceId: ['must not be longer than 1024 characters'] } }],
          })
          .optional(),
      })
      .meta({ description: 'Why the call failed' }),
  })
  .meta({ id: 'Error', description: 'The answer to a call that failed' })
