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
  changed: 409,
  exists: 409,
  key_changed: 409,
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

/** When each error happens, and what to do then; a route says so itself if it has a reason of its own. */
const reasons: Readonly<Record<ErrorCode, string>> = {
  invalid_request:
    'A header, a parameter or the body is not valid. `details` says which field and why: correct it before you send the request again.',
  unauthorized: 'The request carries no valid token. Start a session with `POST /v1/session`, or log in again.',
  forbidden: 'You may not do this. Ask an admin of the namespace.',
  csrf_failed:
    'The request is authenticated by the cookie, and its header `x-csrf-token` is missing or wrong. Send the `csrfToken` of `GET /v1/session`.',
  quota_exceeded: 'The namespace has reached a limit of the operator. Delete something, or ask the operator.',
  not_found: 'What the path names does not exist, or you may not read it. Check the path and your token.',
  method_not_allowed: 'The path does not take this method. The header `Allow` lists those that it takes.',
  changed:
    'The trace is at another revision than `ifRevision`: `details.revision` has it. Read what has changed with `changedSince`, and send the ' +
    'request again with the new revision.',
  exists:
    'The namespace has another trace with this `externalId`, or one is being moved there. Delete one of the two first, or send the request again later.',
  key_changed: 'The namespace has another key for the hashes of lines. Read it again, and hash the lines with it.',
  last_admin: 'The namespace would be left without an admin. Make another member an admin first.',
  last_identity: 'The user would be left without a way to sign in. Add another device or account first.',
  device_known:
    'The device belongs to a user already, and can join no other. Remove it from that user first, with `DELETE /v1/user/identities/{id}`.',
  invite_revoked: 'An admin has revoked the invite. Ask for another one.',
  invite_expired: 'The invite is older than 24 hours. Ask for another one.',
  invite_used: 'The invite has no uses left. Ask for another one.',
  code_used: 'The one-time code has been used. Make another one.',
  code_expired: 'The one-time code has expired, or the session that made it has ended. Make another one.',
  deleted: 'The trace was deleted. To create it again, send the request without `unlessDeleted`.',
  payload_too_large: 'The body is larger than 1 MiB. Send less in one request.',
  rate_limited: 'You have sent too many requests. `Retry-After` says after how many seconds you may try again.',
  internal: 'The service has a fault. Give its operator the `x-request-id` of the answer.',
  unavailable:
    'The service cannot answer now, for example because its database is away. `Retry-After` says after how many seconds you may ' +
    'try again; after a write, `details.stored` says whether it was stored.',
}

/** The reasons of some errors, for a route that has no others. */
export const reasonsOf = <Code extends ErrorCode>(...codes: readonly Code[]) =>
  Object.fromEntries(codes.map((code) => [code, reasons[code]])) as Readonly<Record<Code, string>>

/** The body of every answer to a call that failed. */
export const ErrorBody = z
  .object({
    ok: z.literal(false).meta({ description: 'Always `false`: the call failed' }),
    error: z
      .object({
        code: z.string().meta({ description: 'The code of the error, for programs', examples: ['invalid_request'] }),
        message: z.string().meta({
          description:
            'What went wrong and what to do, in English, for people; for `invalid_request` that is in `details`',
          examples: ['Invalid request'],
        }),
        details: z
          .unknown()
          .meta({
            description:
              'For `invalid_request`: `formErrors`, and `fieldErrors` by the name of the field. For `unavailable` after a write: ' +
              '`stored`, whether the write was stored (`true`, `false` or `"unknown"`). For `changed`: `revision`, that of the trace. For `deleted`: `deletedAt`, when the ' +
              'trace was last deleted, in milliseconds since 1970, and `movedTo`, if it was moved, the slug of the namespace where it is; only for members of that one',
            examples: [{ formErrors: [], fieldErrors: { deviceId: ['must not be longer than 1024 characters'] } }],
          })
          .optional(),
      })
      .meta({ description: 'Why the call failed' }),
  })
  .meta({ id: 'Error', description: 'The answer to a call that failed' })
