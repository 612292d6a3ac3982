import { z } from 'zod'
import { EXAMPLE_ID, done, id, time } from './fields.ts'
import { Role, ofNamespace } from './namespaces.ts'
import { Key } from './parameters.ts'
import { type Api, data, json } from './route.ts'
import { UserView } from './user.ts'

export const MemberView = z
  .object({
    user: UserView,
    role: Role,
    invitedBy: id('the user who made the invite').optional(),
    joinedAt: time('When the user joined'),
  })
  .meta({ id: 'Member', description: 'A member of a namespace' })
export type MemberView = z.infer<typeof MemberView>

const RoleChange = z
  .object({ role: Role })
  .meta({ id: 'RoleChange', description: 'The role from now on', examples: [{ role: 'admin' }] })

const ofMember = {
  ...ofNamespace,
  userId: Key.meta({ description: 'The id of the member’s user', examples: [EXAMPLE_ID] }),
}

/** The members of a namespace. */
export const members = {
  'GET /v1/namespaces/{slug}/members': {
    tag: 'members',
    summary: 'List the members of a namespace, as one of them',
    description:
      'For its members. Errors: `forbidden` (403) for who is no member; `not_found` (404) for an unknown namespace.',
    auth: 'required',
    path: ofNamespace,
    answer: data(z.object({ members: z.array(MemberView).meta({ description: 'The members' }) })),
    errors: ['forbidden', 'not_found'],
  },
  'PATCH /v1/namespaces/{slug}/members/{userId}': {
    tag: 'members',
    summary: "Change a member's role, as an admin",
    description:
      'The same role again changes nothing. Errors: `forbidden` (403) for who is no admin; `not_found` (404) for an ' +
      'unknown namespace or member; `last_admin` (409) when no admin would be left.',
    auth: 'required',
    path: ofMember,
    body: json(RoleChange),
    answer: data(z.object({ member: MemberView })),
    errors: ['not_found', 'last_admin'],
  },
  'DELETE /v1/namespaces/{slug}/members/{userId}': {
    tag: 'members',
    summary: 'Remove a member, as an admin, or leave',
    description:
      'The rights of the member end at once here, and within a second on other nodes of the service. Open invites ' +
      'that the member made are revoked; traces stay. Errors: `forbidden` (403) for who is no admin and removes ' +
      'another; `not_found` (404) for an unknown namespace or member; `last_admin` (409) when no admin would be ' +
      'left.',
    auth: 'required',
    path: ofMember,
    answer: data(z.object({ removed: done('That the member is removed') })),
    errors: ['not_found', 'last_admin'],
  },
} as const satisfies Api
