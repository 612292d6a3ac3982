import { z } from 'zod'
import { count, done, id, text, time } from './fields.ts'
import { NamespaceInfo, Role, avatarUrl, namespaceNames, ofNamespace } from './namespaces.ts'
import { Key } from './parameters.ts'
import { type Api, data, json } from './route.ts'

const EXAMPLE_CODE = 'a1B2c3D4e'

export const InviteState = z.enum(['pending', 'accepted', 'revoked', 'expired']).meta({
  id: 'InviteState',
  description: '`pending`: can be accepted; `accepted`: no use is left; `revoked`: taken back; `expired`: too old',
})
export type InviteState = z.infer<typeof InviteState>

/** An invite in an answer to an admin. Times are milliseconds. */
export const InviteView = z
  .object({
    code: text('The secret that the invite is accepted with: 9 letters and digits', EXAMPLE_CODE),
    namespaceId: id('the namespace'),
    invitedBy: id('the admin who made the invite'),
    role: Role,
    createdAt: time('When the invite was made'),
    expiresAt: time('When the invite ends: 24 hours after it was made'),
    email: text('Who may accept: only a user with this e-mail address, verified', 'ada@example.org').optional(),
    maxUses: count('How many may accept; 0: any number. Absent: one').optional(),
    useCount: count('How many have accepted'),
    acceptedAt: time('When the invite was first accepted').optional(),
    acceptedBy: id('the user who accepted first').optional(),
    revokedAt: time('When the invite was revoked').optional(),
    state: InviteState,
  })
  .meta({ id: 'Invite', description: 'An invite to a namespace, as its admins see it' })
export type InviteView = z.infer<typeof InviteView>

/** An invite in an answer to a caller who has its code. */
export const PublicInvite = z
  .object({
    namespace: z
      .object({ ...namespaceNames, avatarUrl })
      .meta({ description: 'The namespace that the invite leads to' }),
    role: Role,
    expiresAt: time('When the invite ends'),
    state: InviteState,
  })
  .meta({ id: 'PublicInvite', description: 'An invite as those who have its code see it' })
export type PublicInvite = z.infer<typeof PublicInvite>

const InviteCreate = z
  .object({
    email: z
      .email()
      .meta({ description: 'Only a user with this e-mail address, verified by the code host, may accept' })
      .optional(),
    maxUses: z
      .int()
      .min(0)
      .meta({ description: 'How many users may accept; 0: any number. Default: 1', examples: [1] })
      .optional(),
    role: Role.meta({ description: 'The role of who accepts. Default: `member`' }).optional(),
  })
  .meta({ id: 'InviteCreate', description: 'Who may accept, and as what', examples: [{ maxUses: 1, role: 'member' }] })

const ofCode = { code: Key.meta({ description: 'The code of the invite', examples: [EXAMPLE_CODE] }) }

/** Invites to a namespace: for its admins, and for those who have a code. */
export const invites = {
  'GET /v1/invites/{code}': {
    tag: 'invites',
    summary: 'See where an invite leads to',
    description:
      'Anybody who has the code may look, as often as they like; also at an invite that is over. Errors: ' +
      '`not_found` (404); `rate_limited` (429) beyond 60 calls a minute from one address (default).',
    auth: 'none',
    path: ofCode,
    answer: data(z.object({ invite: PublicInvite })),
    errors: ['not_found'],
  },
  'POST /v1/invites/{code}/accept': {
    tag: 'invites',
    summary: 'Join a namespace by an invite',
    description:
      'Makes you a member, with the role of the invite, and spends one use. Who is a member already stays as they ' +
      'are, and spends none. Errors: `forbidden` (403) for an invite to another e-mail address, and for one that ' +
      'is older than your removal by another admin, or as admin older than your demotion; `not_found` (404); ' +
      '`invite_revoked`, `invite_expired`, `invite_used` (410); `rate_limited` (429) beyond 60 calls a minute from ' +
      'one address (default).',
    auth: 'required',
    path: ofCode,
    answer: data(z.object({ namespace: NamespaceInfo })),
    errors: ['not_found', 'invite_revoked', 'invite_expired', 'invite_used'],
  },
  'POST /v1/namespaces/{slug}/invites': {
    tag: 'invites',
    summary: 'Make an invite, as an admin',
    description:
      'Lives for 24 hours; each call makes another one. Send its code to whom you invite. Errors: `invalid_request` ' +
      '(400); `forbidden` (403) for who is no admin; `not_found` (404) for an unknown namespace.',
    auth: 'required',
    path: ofNamespace,
    body: json(InviteCreate),
    answer: data(z.object({ invite: InviteView })),
    errors: ['not_found'],
  },
  'GET /v1/namespaces/{slug}/invites': {
    tag: 'invites',
    summary: 'List the invites of a namespace, as an admin',
    description:
      'All of them, those that are over as well. Errors: `forbidden` (403) for who is no admin; `not_found` (404) ' +
      'for an unknown namespace.',
    auth: 'required',
    path: ofNamespace,
    answer: data(z.object({ invites: z.array(InviteView).meta({ description: 'The invites' }) })),
    errors: ['forbidden', 'not_found'],
  },
  'DELETE /v1/namespaces/{slug}/invites/{code}': {
    tag: 'invites',
    summary: 'Revoke an invite, as an admin',
    description:
      'Its code stops working; who has joined stays. A repetition changes nothing. Errors: `forbidden` (403) for ' +
      'who is no admin; `not_found` (404) for an unknown namespace or code.',
    auth: 'required',
    path: { ...ofNamespace, ...ofCode },
    answer: data(z.object({ revoked: done('That the invite is revoked') })),
    errors: ['not_found'],
  },
} as const satisfies Api
