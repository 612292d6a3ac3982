import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieNameOf } from '../http/auth.ts'
import { cookie, newSecret, secretIn } from '../http/cookies.ts'
import type { HttpConfig } from '../http/settings.ts'
import { LIFETIME_MS } from './handshakes.ts'

const nameOf = (request: FastifyRequest, config: HttpConfig) => `${cookieNameOf(config, request)}-signin`

/** The value of the cookie that `ensureBrowserCookie` sets; undefined for any other value. */
export const readBrowserCookie = (request: FastifyRequest, config: HttpConfig): string | undefined =>
  secretIn(request, nameOf(request, config))

/**
 * Sets a random cookie in the browser where a sign-in was started or is to be confirmed, and returns its value: the sign-in
 * can only continue in that browser. Several sign-ins share one cookie.
 */
export const ensureBrowserCookie = (request: FastifyRequest, reply: FastifyReply, config: HttpConfig): string => {
  const value = readBrowserCookie(request, config) ?? newSecret()
  reply.header('set-cookie', cookie(nameOf(request, config), value, LIFETIME_MS / 1_000))
  return value
}
