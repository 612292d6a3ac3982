import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Decision, StreamKind } from '../../eventstore/engine/stream.ts'
import { SessionEvent } from './events.ts'

/** A session that was not revoked. It may have expired: `expiresAt` is in milliseconds since 1970. */
type StartedSession = {
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
  sizeOf: () => SESSION_BYTES,
}

type Decide = Decision<Session, SessionEvent>

type SessionTerms = Extract<SessionEvent, { type: 'SessionCreated' }>['data']

/** Starts a session. Does nothing if the session exists already. */
export const start =
  (terms: SessionTerms): Decide =>
  (session) =>
    session.is === 'absent' ? [{ type: 'SessionCreated', data: terms }] : []

const isValid = (session: Session, userId: string, now: number): session is StartedSession =>
  session.is === 'started' && session.userId === userId && (session.expiresAt === undefined || session.expiresAt > now)

export const NO_SESSION = 'No session of yours has this id, or it has ended: check the id'

/** The session, if it belongs to the user and is valid at `now`. @throws Rejected not_found */
const valid = (session: Session, userId: string, now: number): StartedSession => {
  if (!isValid(session, userId, now))
    throw new Rejected('not_found', NO_SESSION, {
      hidesExistence: session.is !== 'absent' && session.userId !== userId,
    })
  return session
}

/** Makes another namespace the active one. The caller of this function has checked that the user is a member of it. */
export const switchTo =
  (userId: string, namespaceId: string): Decide =>
  (session, now) =>
    valid(session, userId, now).namespaceId === namespaceId ? [] : [{ type: 'SessionSwitched', data: { namespaceId } }]

/**
 * Ends a session of the user.
 * @throws Rejected not_found if it is not a session of the user, or has ended
 */
export const revoke =
  (userId: string): Decide =>
  (session, now) => {
    valid(session, userId, now)
    return [{ type: 'SessionRevoked', data: {} }]
  }

/** @throws Rejected code_expired if the session that has made a one-time code is not valid any more */
export const assertMayGiveCode =
  (userId: string) =>
  (session: Session, now: number): void => {
    if (!isValid(session, userId, now))
      throw new Rejected(
        'code_expired',
        'The session that made this code has ended: log in there again, and make another code',
      )
  }

/** Ends the session of the caller. Does nothing if it has ended already. */
export const signOut = (): Decide => (session) =>
  session.is === 'started' ? [{ type: 'SessionRevoked', data: {} }] : []
