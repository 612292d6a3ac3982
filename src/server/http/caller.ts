import type { FastifyRequest } from 'fastify'
import type { Context } from '../../eventstore/engine/decide.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Role } from '../../contract/namespaces.ts'
import { unauthorized } from './http-error.ts'

/** The namespace that a session is active in, with the caller's role there. */
export type ActiveNamespace = { readonly id: string; readonly slug: string; readonly role: Role }

/** The user and session that a request comes from. */
export type Caller = {
  readonly userId: string
  readonly identityId: string
  readonly sessionId: string
  /** Undefined if the user is not a member of any namespace: then lists are empty, and writes are a 403. */
  readonly namespace: ActiveNamespace | undefined
  readonly via: 'bearer' | 'cookie'
  readonly deviceName: string | undefined
  readonly expiresAt: number | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined if the request has no valid token, which is an error only on routes with `auth: 'required'`. */
    caller: Caller | undefined
  }
}

/** @throws HttpError unauthorized if the request has no valid token */
export const requireCaller = (request: FastifyRequest): Caller => {
  if (!request.caller) throw unauthorized()
  return request.caller
}

/** The active namespace of the caller. @throws Rejected forbidden if the user is not a member of any */
export const requireNamespace = (caller: Caller): ActiveNamespace => {
  if (!caller.namespace)
    throw new Rejected('forbidden', 'You are not a member of any namespace: create one, or ask for an invite')
  return caller.namespace
}

/** What is recorded with the events of a request; the request notes the last of them (`log-position.ts`). */
export const contextOf = (request: FastifyRequest): Context => {
  const { caller } = request
  return {
    ...(caller ? { actor: { userId: caller.userId, sessionId: caller.sessionId } } : {}),
    requestId: String(request.id),
    noteLastEvent: (last) => {
      if (!request.lastEvent || last.position > request.lastEvent.position) request.lastEvent = last
    },
  }
}
