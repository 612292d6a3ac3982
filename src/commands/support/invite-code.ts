import { commandName } from '../../cli/command-name.ts'
import type { Secret } from '../../cli/secret.ts'

/** The code of an invite, as commands take it. */
export const inviteCode: Secret = {
  question: 'Invite: ',
  variable: 'TRACEBOOK_INVITE_CODE',
  missing: `no invite was given: an admin of the namespace makes one with "${commandName} invite"`,
}
