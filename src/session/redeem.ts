import { Rejected } from '../engine/rejected.ts'
import { assertHasIdentity } from '../user/decide.ts'
import { assertMayGiveCode } from './decide.ts'
import type { CodePurpose, CodeTerms, StoredCode } from './one-time-codes.ts'
import type { SignInServices } from './services.ts'

/** A one-time code in a request. `limited` runs the look-up, and counts it against the caller's address when it finds none. */
export type GivenCode = {
  readonly code: string
  readonly limited: (lookUp: () => Promise<StoredCode | undefined>) => Promise<StoredCode | undefined>
}

const codeUsed = () => new Rejected('code_used', 'This code was used before: make another one')

/** @throws Rejected not_found for a code that was never made, or has expired more than an hour ago */
export const findCode = async (
  { codes }: Pick<SignInServices, 'codes'>,
  purpose: CodePurpose,
  { code, limited }: GivenCode,
): Promise<StoredCode> => {
  const stored = await limited(() => codes.find(purpose, code))
  if (!stored) throw new Rejected('not_found', 'There is no such code: check it, or make another one')
  return stored
}

/**
 * The session that made a code must be valid, and its identity there, as their streams are at this moment: else a stolen token
 * could make a way in that outlives its revocation.
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
 * Checks that `id` may use a code, now.
 * @throws Rejected code_used when another id has used it, code_expired after its time, or when the session that made it has ended
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

/** Marks a code as used by `id`. @throws Rejected code_used when another id was first */
export const claimCode = async (
  { codes }: Pick<SignInServices, 'codes'>,
  purpose: CodePurpose,
  code: string,
  id: string,
): Promise<void> => {
  if (!(await codes.claim(purpose, code, id))) throw codeUsed()
}

/**
 * What is stored for a code rests on streams that others write: after it is stored its maker is looked at once more, and where the
 * maker is not valid any more it is taken back.
 * @throws Rejected code_expired when it was taken back
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
