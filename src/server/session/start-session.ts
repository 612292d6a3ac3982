import type { NewSession } from '../../contract/sessions.ts'
import type { UserAndNamespace } from './queries.ts'
import { start } from './decide.ts'
import type { SignInServices } from './services.ts'
import { newToken, tokenHash } from './tokens.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

type SessionOptions = {
  readonly id: string
  readonly user: UserAndNamespace
  readonly identityId: string
  /** The id of the namespace that was asked for. Default: see `WantedNamespace`. */
  readonly namespaceId: string | undefined
  readonly deviceName: string | undefined
  /** The session that made the one-time code by which this one starts, if there was a code. */
  readonly parentSessionId?: string
  readonly requestId: string | undefined
}

/** Starts a session of a user with an identity. Only the result has the token; the service stores its hash. */
export const startSession = async (
  { config, now, sessions, write }: SignInServices,
  { id, user: { userId, active }, identityId, namespaceId, deviceName, parentSessionId, requestId }: SessionOptions,
): Promise<NewSession> => {
  const token = newToken()
  const expiresAt = Math.round(now() + config.SESSION_TTL_DAYS * DAY_MS)
  const named = deviceName === undefined ? {} : { deviceName }
  const optional = {
    ...(namespaceId === undefined ? {} : { namespaceId }),
    ...(parentSessionId === undefined ? {} : { parentSessionId }),
    ...named,
  }
  const decide = start({ userId, identityId, tokenHash: tokenHash(token), ...optional, expiresAt })
  const context = { actor: { userId, sessionId: id }, requestId }
  await write(sessions, id, { decide }, context)
  const namespaceFields = active && { namespaceId: active.id, namespaceSlug: active.slug, role: active.role }
  return { id, token, userId, identityId, ...namespaceFields, ...named, expiresAt }
}
