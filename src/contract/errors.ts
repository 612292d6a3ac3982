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
