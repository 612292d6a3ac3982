import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieNameOf, cookieOf } from './auth.ts'
import type { HttpConfig } from './settings.ts'

/** The `Set-Cookie` header of a cookie that scripts cannot read and forms of other sites do not send. */
export const cookie = (name: string, value: string, seconds: number): string => {
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** The `Set-Cookie` header of a choice of the browser, which is no secret. */
export const plainCookie = (name: string, value: string, seconds: number, isSecure: boolean): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; SameSite=Lax${isSecure ? '; Secure' : ''}`

/** A random secret for a cookie: 256 bits. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** The secret in a cookie of a request; undefined if it has no such cookie, or one that `newSecret` has not made. */
export const secretIn = ({ headers: { cookie } }: FastifyRequest, name: string): string | undefined => {
  const value = cookie === undefined ? undefined : cookieOf(cookie, name)
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined
}

/** A session to keep in a browser; `expiresAt` is in milliseconds since 1970. */
type KeptSession = { readonly token: string; readonly expiresAt?: number | undefined }

/** Signs the browser in until the session expires. `now` is in milliseconds since 1970. */
export const setSessionCookie = (
  reply: FastifyReply,
  config: HttpConfig,
  { token, expiresAt = 0 }: KeptSession,
  now: number,
): void => {
  const seconds = Math.max(0, Math.floor((expiresAt - now) / 1_000))
  void reply.header('set-cookie', cookie(cookieNameOf(config, reply.request), token, seconds))
}

/** Signs the browser out. */
export const clearSessionCookie = (reply: FastifyReply, config: HttpConfig): void =>
  setSessionCookie(reply, config, { token: '' }, 0)
