import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpConfig } from '../http/settings.ts'
import { cookieNameOf, cookieOf } from '../http/auth.ts'
import { cookie } from '../http/cookies.ts'
import { LIFETIME_MS } from './handshakes.ts'

const nameOf = (config: HttpConfig) => `${cookieNameOf(config)}-signin`

/** What `markBrowser` has set; anything else is none of ours. */
export const browserCookieOf = ({ headers }: FastifyRequest, config: HttpConfig): string | undefined => {
  const value = headers.cookie === undefined ? undefined : cookieOf(headers.cookie, nameOf(config))
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined
}

/**
 * Marks the browser that a sign-in began in, or was asked in: the one that comes back must be the same. Sign-ins that are
 * under way in one browser share the mark. Returns it.
 */
export const markBrowser = (request: FastifyRequest, reply: FastifyReply, config: HttpConfig): string => {
  const mark = browserCookieOf(request, config) ?? randomBytes(32).toString('base64url')
  reply.header('set-cookie', cookie(nameOf(config), mark, LIFETIME_MS / 1_000))
  return mark
}
