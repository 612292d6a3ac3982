import type { InviteView } from '../../../../src/contract/invites.ts'
import type { Person } from '../../../support/world.ts'

/** The invites of a namespace, as an admin of it makes and sees them. */
export const invitesOf = (admin: Pick<Person, 'send'>, slug: string) => {
  const path = `/v1/namespaces/${slug}/invites`
  return {
    /** Makes an invite; its code. */
    invite: async (body: object = {}) => (await admin.send<{ invite: InviteView }>('POST', path, body)).invite.code,
    /** How often the invite with a code was used. */
    usesOf: async (code: string) => {
      const { invites } = await admin.send<{ invites: InviteView[] }>('GET', path)
      return invites.find((one) => one.code === code)!.useCount
    },
  }
}
