import type { Context } from '../engine/decide.ts'
import { Rejected } from '../engine/rejected.ts'
import { acceptInvite } from '../namespace/decide-invites.ts'
import { inviteByCode } from '../namespace/invite-queries.ts'
import type { NewIdentity } from '../user/decide.ts'
import type { SignInServices } from './services.ts'

/**
 * Checks that a new user may sign up, and accepts the invite if there is one. Runs before anything of the user is stored,
 * and may be repeated.
 * @throws 403 for a user who may not sign up, 410 for an invite that is revoked, expired or used up
 */
export type AdmitUser = (userId: string, context: Context) => Promise<void>

const forbidden = (message: string) => new Rejected('forbidden', message)

const verifiedEmailsOf = ({ profile: { email, emailVerified } }: NewIdentity): string[] =>
  email !== undefined && emailVerified ? [email] : []

/**
 * The check for the mode of `SIGN_UP`. An invite is accepted in every mode. The new user becomes a member before the user is
 * created, so that no more users than the invite allows can sign up with it; a repetition uses the invite only once.
 */
export const newAdmission = (
  { config, reads, now, namespaces }: Pick<SignInServices, 'config' | 'reads' | 'now' | 'namespaces'>,
  identity: NewIdentity,
  inviteCode: string | undefined,
): AdmitUser => {
  const accept = async (code: string, userId: string, context: Context) => {
    const invite = await inviteByCode(reads, code, now())
    if (!invite) throw forbidden('No invite has this code')
    const decide = acceptInvite({ id: userId, verifiedEmails: verifiedEmailsOf(identity) }, code)
    await namespaces.transact(invite.namespaceId, { decide, answer: () => {} }, context)
  }

  return async (userId, context) => {
    if (config.SIGN_UP === 'off') throw forbidden('Nobody new may sign up at this service')
    if (inviteCode !== undefined) return accept(inviteCode, userId, context)
    if (config.SIGN_UP === 'invited')
      throw forbidden('Only people with an invite may sign up at this service: give its code as inviteCode')
  }
}
