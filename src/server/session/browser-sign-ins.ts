import { newId } from '../../base/ids.ts'
import type { NewSession } from '../../contract/sessions.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { presentNamespace } from '../namespace/decide.ts'
import { NO_INVITE, acceptInvite } from '../namespace/decide-invites.ts'
import { inviteByCode } from '../namespace/invite-queries.ts'
import type { Credential } from '../user/decide.ts'
import { verifiedEmailsOf } from '../user/queries.ts'
import { findIdentity } from './queries.ts'
import type { SignInServices } from './services.ts'
import { type NamesOfNewUser, newAdmission, signUp } from './sign-up.ts'
import { startSession } from './start-session.ts'

/** The name of the device in the sessions of a browser. */
export const BROWSER_NAME = 'browser'

/** Starts a session of the user whom a credential belongs to; undefined if there is none: unlike `signIn`, it makes no user. */
export const signInKnown = async (
  service: SignInServices,
  credential: Credential,
  requestId: string,
): Promise<NewSession | undefined> => {
  service.assertWritable()
  const { id: identityId, user } = await findIdentity(service.reads, credential)
  const options = { namespaceId: undefined, deviceName: BROWSER_NAME, requestId }
  return user && startSession(service, { id: newId(), user, identityId, ...options })
}

type InvitedSignIn = {
  readonly credential: Credential
  readonly inviteCode: string
  /** The names of the user, if it is new. */
  readonly names: NamesOfNewUser
  readonly requestId: string
}

/**
 * Accepts an invite as the user whom a credential belongs to, who is made if there is none, and starts a session that is active in the
 * namespace. May be repeated from any point: it makes one user, and spends one use of the invite.
 * @throws Rejected not_found for an unknown invite; forbidden if a new user may not sign up; the errors of `acceptInvite`
 */
export const signInInvited = async (
  service: SignInServices,
  { credential, inviteCode, names, requestId }: InvitedSignIn,
): Promise<NewSession> => {
  service.assertWritable()
  const invite = await inviteByCode(service.reads, inviteCode, service.now())
  if (!invite) throw new Rejected('not_found', NO_INVITE)
  const { id: identityId, user } = await findIdentity(service.reads, credential)
  const identity = { ...credential, id: identityId }
  const admitUser = newAdmission(service, identity, inviteCode)
  const { userId } = user ?? (await signUp(service, identity, requestId, admitUser, names))
  const { namespaceId } = invite
  const decide = acceptInvite({ id: userId, verifiedEmails: await verifiedEmailsOf(service.reads, userId) }, inviteCode)
  const active = await service.write(
    service.namespaces,
    namespaceId,
    {
      decide, // nothing for a new user, whom the admission has made a member
      answer: (state) => {
        const { slug, members } = presentNamespace(state)
        return { id: namespaceId, slug, role: members.get(userId)!.role }
      },
    },
    { actor: { userId }, requestId },
  )
  const options = { namespaceId, deviceName: BROWSER_NAME, requestId }
  return startSession(service, { id: newId(), user: { userId, active }, identityId, ...options })
}
