import type { FastifyRequest } from 'fastify'
import type { Context } from '../engine/decide.ts'
import { Rejected } from '../engine/rejected.ts'
import type { Role } from '../contract/namespaces.ts'
import { unauthorized } from './http-error.ts'

/** The namespace that a session is active in, with the caller's role there. */
export type ActiveNamespace = { readonly id: string; readonly slug: string; readonly role: Role }

/** Who a request comes from. */
export type Caller = {
  readonly userId: string
  readonly identityId: string
  readonly sessionId: string
  /** Absent when the user has no namespace left: reads are empty then, writes 403. */
  readonly namespace: ActiveNamespace | undefined
  readonly via: 'bearer' | 'cookie'
  readonly deviceName: string | undefined
  readonly expiresAt: number | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined without a valid token, which is an error only on routes with `auth: 'required'`. */
    caller: Caller | undefined
  }
}

/** @throws 401 without a valid token */
export const requireCaller = (request: FastifyRequest): Caller => {
  if (!request.caller) throw unauthorized()
  return request.caller
}

/** The caller's active namespace. @throws 403 when no namespace is left */
export const requireNamespace = (caller: Caller): ActiveNamespace => {
  if (!caller.namespace) throw new Rejected('forbidden', 'You are a member of no namespace')
  return caller.namespace
}

/** What is recorded with the events of a request; the request notes the last of them (`log-position.ts`). */
export const contextOf = (request: FastifyRequest): Context => {
  const { caller } = request
  return {
    ...(caller ? { actor: { userId: caller.userId, sessionId: caller.sessionId } } : {}),
    requestId: String(request.id),
    noteAnchor: (anchor) => {
      if (request.anchor === undefined || anchor.position > request.anchor.position) request.anchor = anchor
    },
  }
}
