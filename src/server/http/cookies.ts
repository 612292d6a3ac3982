import type { FastifyReply } from 'fastify'
import { cookieNameOf } from './auth.ts'
import type { HttpConfig } from './settings.ts'

/** The `Set-Cookie` header of a cookie that scripts cannot read and forms of other sites do not send. */
export const cookie = (name: string, value: string, seconds: number): string => {
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** The `Set-Cookie` header of a choice of the browser, which is no secret. */
export const plainCookie = (name: string, value: string, seconds: number, isSecure: boolean): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; SameSite=Lax${isSecure ? '; Secure' : ''}`

/** Signs the browser in for this number of seconds. */
export const setSessionCookie = (reply: FastifyReply, config: HttpConfig, token: string, seconds: number): void =>
  void reply.header('set-cookie', cookie(cookieNameOf(config, reply.request), token, seconds))

/** Signs the browser out. */
export const clearSessionCookie = (reply: FastifyReply, config: HttpConfig): void =>
  setSessionCookie(reply, config, '', 0)
