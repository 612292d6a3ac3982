import type { FastifyRequest } from 'fastify'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { type AttemptOptions, newAttempt } from '../http/attempt.ts'
import { noteRefusal } from '../http/refusals.ts'
import { assertHasIdentity } from '../user/decide.ts'
import { assertMayGiveCode } from './decide.ts'
import type { CodePurpose, CodeTerms, StoredCode } from './one-time-codes.ts'
import type { SignInServices } from './services.ts'

/** A one-time code in a request. `limited` runs the look-up, and counts it against the caller's address when it finds none. */
export type CodeInRequest = {
  readonly code: string
  readonly limited: (lookUp: () => Promise<StoredCode | undefined>) => Promise<StoredCode | undefined>
}

/** The one-time code of a request. An unknown code counts against the limit for requests without a valid token. */
export const codeInRequest = (options: AttemptOptions, request: FastifyRequest, code: string): CodeInRequest => {
  const attempt = newAttempt(options, request.ip)
  const limited: CodeInRequest['limited'] = async (lookUp) => {
    const found = await attempt.resultOf(lookUp)
    if (!found) noteRefusal(request, 'code not known')
    return found
  }
  return { code, limited }
}

const codeUsed = () => new Rejected('code_used', 'This code has been used: make another one')

/** Finds the stored code of a request. @throws Rejected not_found for a code that was never made, or expired more than an hour ago */
export const findCode = async (
  { codes }: Pick<SignInServices, 'codes'>,
  purpose: CodePurpose,
  { code, limited }: CodeInRequest,
): Promise<StoredCode> => {
  const stored = await limited(() => codes.find(purpose, code))
  if (!stored)
    throw new Rejected(
      'not_found',
      'The code does not exist, or it expired more than an hour ago: check it, or make another one',
    )
  return stored
}

/**
 * Checks that the session that made a code is valid, and its identity not removed, by the newest events of their streams:
 * otherwise a stolen token could make a code that still works after the token was revoked.
 */
const assertMakerIsValid = async (
  { sessions, users }: Pick<SignInServices, 'sessions' | 'users'>,
  { userId, identityId, sessionId }: CodeTerms,
) => {
  await Promise.all([
    sessions.read(sessionId, assertMayGiveCode(userId)),
    users.read(userId, assertHasIdentity(identityId)),
  ])
}

/**
 * Checks that `id` may use a code now.
 * @throws Rejected code_used if another id has used it; code_expired if it has expired, or the session that made it has ended
 */
export const assertUsable = async (
  service: Pick<SignInServices, 'now' | 'sessions' | 'users'>,
  { usedBy, expiresAt, terms }: StoredCode,
  id: string | undefined,
): Promise<void> => {
  if (usedBy !== undefined && usedBy !== id) throw codeUsed()
  if (expiresAt <= service.now()) throw new Rejected('code_expired', 'This code has expired: make another one')
  await assertMakerIsValid(service, terms)
}

/** Marks a code as used by `id`. @throws Rejected code_used if another id was first */
export const claimCode = async (
  { codes }: Pick<SignInServices, 'codes'>,
  purpose: CodePurpose,
  code: string,
  id: string,
): Promise<void> => {
  if (!(await codes.claim(purpose, code, id))) throw codeUsed()
}

/**
 * Checks the session that made a code once more, after an identity or a session was stored for the code. If the first session has ended
 * meanwhile, calls `takeBack`, which has to remove that identity or session.
 * @throws Rejected code_expired after `takeBack`
 */
export const keepIfMakerIsValid = async (
  service: Pick<SignInServices, 'sessions' | 'users'>,
  terms: CodeTerms,
  takeBack: () => Promise<void>,
): Promise<void> => {
  try {
    await assertMakerIsValid(service, terms)
  } catch (error) {
    if (error instanceof Rejected) await takeBack()
    throw error
  }
}
