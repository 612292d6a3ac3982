import { z } from 'zod'
import { EXAMPLE_ID, done, id, time } from './fields.ts'
import { Role, noNamespace, notAdmin, notMember, ofNamespace } from './namespaces.ts'
import { Key } from './parameters.ts'
import { type Api, data, json } from './route.ts'
import { UserView } from './user.ts'

export const MemberView = z
  .object({
    user: UserView,
    role: Role,
    invitedBy: id('the user who made the invite that this member accepted').optional(),
    joinedAt: time('When the user joined'),
  })
  .meta({ id: 'Member', description: 'A member of a namespace' })
export type MemberView = z.infer<typeof MemberView>

const RoleChange = z
  .object({ role: Role })
  .meta({ id: 'RoleChange', description: 'The new role of the member', examples: [{ role: 'admin' }] })

const ofMember = {
  ...ofNamespace,
  userId: Key.meta({ description: 'The id of the user who is the member', examples: [EXAMPLE_ID] }),
}

const noMember = 'No namespace has this slug, or no member of it has this id. Check both.'
const lastAdmin = 'The member is the last admin of the namespace. Make another member an admin first.'

/** The members of a namespace. */
export const members = {
  'GET /v1/namespaces/{slug}/members': {
    tag: 'members',
    summary: 'List the members of a namespace, as one of them',
    description: 'The member who joined first comes first.',
    auth: 'required',
    path: ofNamespace,
    answer: data(z.object({ members: z.array(MemberView).meta({ description: 'The members' }) })),
    errors: { forbidden: notMember, not_found: noNamespace },
  },
  'PATCH /v1/namespaces/{slug}/members/{userId}': {
    tag: 'members',
    summary: "Change a member's role, as an admin",
    description: 'Giving a member their current role changes nothing.',
    auth: 'required',
    path: ofMember,
    body: json(RoleChange),
    answer: data(z.object({ member: MemberView })),
    errors: { forbidden: notAdmin, not_found: noMember, last_admin: lastAdmin },
  },
  'DELETE /v1/namespaces/{slug}/members/{userId}': {
    tag: 'members',
    summary: 'Remove a member, as an admin, or leave the namespace yourself',
    description:
      'The member loses all rights in the namespace at once on this node, and within a second on other nodes. Open invites that ' +
      'the member made are revoked. The traces of the member stay.',
    auth: 'required',
    path: ofMember,
    answer: data(z.object({ removed: done('The member was removed') })),
    errors: {
      forbidden:
        'You are not an admin of the namespace, and members can remove only themselves. Ask one of its admins.',
      not_found: noMember,
      last_admin: lastAdmin,
    },
  },
} as const satisfies Api
