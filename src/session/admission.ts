import type { Context } from '../engine/decide.ts'
import { Rejected } from '../engine/rejected.ts'
import { acceptInvite } from '../namespace/decide-invites.ts'
import { inviteByCode } from '../namespace/invite-queries.ts'
import type { NewIdentity } from './new-identity.ts'
import type { SignInServices } from './services.ts'

/**
 * Lets a new user in, before anything of it is made; may be repeated.
 * @throws 403 for a user who may not sign up, 410 for an invite that is over
 */
export type Admit = (userId: string, context: Context) => Promise<void>

const refused = (message: string) => new Rejected('forbidden', message)

const verifiedEmailsOf = ({ profile: { email, emailVerified } }: NewIdentity): string[] =>
  email !== undefined && emailVerified ? [email] : []

/**
 * Who may become a user, by `SIGN_UP`. An invite is accepted with the sign-up, in every mode, so that it lets in as many
 * as it has uses: the membership comes before the user, and costs nothing once it is there.
 */
export const newAdmission = (
  { config, reads, now, namespaces }: Pick<SignInServices, 'config' | 'reads' | 'now' | 'namespaces'>,
  identity: NewIdentity,
  inviteCode: string | undefined,
): Admit => {
  const accept = async (code: string, userId: string, context: Context) => {
    const invite = await inviteByCode(reads, code, now())
    if (!invite) throw refused('No invite has this code')
    const decide = acceptInvite({ id: userId, verifiedEmails: verifiedEmailsOf(identity) }, code)
    await namespaces.transact(invite.namespaceId, { decide, answer: () => {} }, context)
  }

  return async (userId, context) => {
    if (config.SIGN_UP === 'off') throw refused('Nobody new may sign up at this service')
    if (inviteCode !== undefined) return accept(inviteCode, userId, context)
    if (config.SIGN_UP === 'invited')
      throw refused('Only people with an invite may sign up at this service: give its code as inviteCode')
  }
}
