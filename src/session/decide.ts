import { Rejected, hiddenNotFound } from '../engine/rejected.ts'
import type { Decision, StreamKind } from '../engine/stream.ts'
import { SessionEvent } from './events.ts'

/** A session that was not revoked. It may have expired: `expiresAt` is in milliseconds. */
export type StartedSession = {
  readonly is: 'started'
  readonly userId: string
  readonly namespaceId: string | undefined
  readonly expiresAt: number | undefined
}

export type Session = { readonly is: 'absent' } | StartedSession | { readonly is: 'revoked'; readonly userId: string }

const started = (session: Session): StartedSession => {
  if (session.is !== 'started') throw new Error('the session does not exist, or has ended')
  return session
}

const evolve = (session: Session, event: SessionEvent): Session => {
  switch (event.type) {
    case 'SessionCreated': {
      const { userId, namespaceId, expiresAt } = event.data
      return { is: 'started', userId, namespaceId, expiresAt }
    }
    case 'SessionSwitched':
      return { ...started(session), namespaceId: event.data.namespaceId }
    case 'SessionRevoked':
      return { is: 'revoked', userId: started(session).userId }
  }
}

const SESSION_BYTES = 800

/** Streams `session-<id>`. */
export const sessions: StreamKind<Session, SessionEvent> = {
  category: 'session',
  events: SessionEvent,
  initial: () => ({ is: 'absent' }),
  evolve,
  weigh: () => SESSION_BYTES,
}

type Decide = Decision<Session, SessionEvent>

export type SessionTerms = Extract<SessionEvent, { type: 'SessionCreated' }>['data']

/** Starts a session. Does nothing for a session id that exists already. */
export const start =
  (terms: SessionTerms): Decide =>
  (session) =>
    session.is === 'absent' ? [{ type: 'SessionCreated', data: terms }] : []

const isValid = (session: Session, userId: string, now: number): session is StartedSession =>
  session.is === 'started' && session.userId === userId && (session.expiresAt === undefined || session.expiresAt > now)

/** The session, if it belongs to the user and is valid at `now`. @throws Rejected not_found for all others */
const valid = (session: Session, userId: string, now: number): StartedSession => {
  if (!isValid(session, userId, now))
    throw session.is !== 'absent' && session.userId !== userId
      ? hiddenNotFound()
      : new Rejected('not_found', 'Not found')
  return session
}

/** Makes another namespace the active one. The caller checks first that the user is a member of it. */
export const switchTo =
  (userId: string, namespaceId: string): Decide =>
  (session, now) =>
    valid(session, userId, now).namespaceId === namespaceId ? [] : [{ type: 'SessionSwitched', data: { namespaceId } }]

/**
 * Ends a session of the user.
 * @throws Rejected not_found for one that is not the user's or has ended
 */
export const revoke =
  (userId: string): Decide =>
  (session, now) => {
    valid(session, userId, now)
    return [{ type: 'SessionRevoked', data: {} }]
  }

/** @throws Rejected code_expired when the session, which has made a one-time code, is not valid any more */
export const assertMayGiveCode =
  (userId: string) =>
  (session: Session, now: number): void => {
    if (!isValid(session, userId, now))
      throw new Rejected('code_expired', 'The session that made this code has ended: make another one')
  }

/** Ends the caller's own session. Does nothing when it has ended in the meantime. */
export const signOut = (): Decide => (session) =>
  session.is === 'started' ? [{ type: 'SessionRevoked', data: {} }] : []
