import { z } from 'zod'
import { count, done, id, text, time } from './fields.ts'
import { reasonsOf } from './errors.ts'
import { NamespaceInfo, Role, avatarUrl, namespaceNames, noNamespace, notAdmin, ofNamespace } from './namespaces.ts'
import { Key } from './parameters.ts'
import { type Api, data, json } from './route.ts'

const EXAMPLE_CODE = 'a1B2c3D4e'

export const InviteState = z.enum(['pending', 'accepted', 'revoked', 'expired']).meta({
  id: 'InviteState',
  description:
    '`pending`: the invite can be accepted; `accepted`: no uses are left; `revoked`: an admin revoked it; `expired`: it is older than 24 hours',
})
export type InviteState = z.infer<typeof InviteState>

/** An invite in an answer to an admin. */
export const InviteView = z
  .object({
    code: text('The secret by which the invite is accepted: 9 letters and digits', EXAMPLE_CODE),
    namespaceId: id('the namespace'),
    invitedBy: id('the admin who made the invite'),
    role: Role,
    createdAt: time('When the invite was made'),
    expiresAt: time('When the invite expires: 24 hours after it was made'),
    email: text(
      'Only a user with this verified e-mail address may accept; absent: anybody who has the code',
      'ada@example.org',
    ).optional(),
    maxUses: count('How many users may accept; 0: any number; absent: one').optional(),
    useCount: count('How many users have accepted'),
    acceptedAt: time('When the invite was first accepted').optional(),
    acceptedBy: id('the user who was the first to accept').optional(),
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
      .meta({ description: 'The namespace that users join by the invite' }),
    role: Role,
    expiresAt: time('When the invite expires'),
    state: InviteState,
  })
  .meta({ id: 'PublicInvite', description: 'An invite, as anybody who has its code sees it' })
export type PublicInvite = z.infer<typeof PublicInvite>

const InviteCreate = z
  .object({
    email: z
      .email()
      .meta({
        description:
          'Only a user whose code host has verified this e-mail address may accept. Default: anybody who has the code',
      })
      .optional(),
    maxUses: z
      .int()
      .min(0)
      .meta({ description: 'How many users may accept; 0: any number. Default: 1', examples: [1] })
      .optional(),
    role: Role.meta({ description: 'The role of users who accept. Default: `member`' }).optional(),
  })
  .meta({
    id: 'InviteCreate',
    description: 'Who may accept the invite, and with which role',
    examples: [{ maxUses: 1, role: 'member' }],
  })

const ofCode = { code: Key.meta({ description: 'The code of the invite', examples: [EXAMPLE_CODE] }) }

const noInvite = 'No invite has this code. Check the code, or ask for another invite.'
const tooManyLookUps =
  'Your address has sent more than 60 requests about invites in a minute (default). Wait as many seconds as `Retry-After` says.'

/** Invites to a namespace: for its admins, and for people who have a code. */
export const invites = {
  'GET /v1/invites/{code}': {
    tag: 'invites',
    summary: 'Read an invite by its code',
    description:
      'Anybody who has the code may read the invite, any number of times, also when it has expired, was revoked or is used up.',
    auth: 'none',
    path: ofCode,
    answer: data(z.object({ invite: PublicInvite })),
    errors: { not_found: noInvite, rate_limited: tooManyLookUps },
  },
  'POST /v1/invites/{code}/accept': {
    tag: 'invites',
    summary: 'Join a namespace by an invite',
    description:
      'You become a member with the role of the invite, and one use of the invite is spent. If you are a member already, nothing ' +
      'changes and no use is spent.',
    auth: 'required',
    path: ofCode,
    answer: data(z.object({ namespace: NamespaceInfo })),
    errors: {
      forbidden:
        'The invite is for another e-mail address, or an admin has removed you or taken the role of admin from you after the invite ' +
        'was made. Ask for another invite.',
      not_found: noInvite,
      ...reasonsOf('invite_revoked', 'invite_expired', 'invite_used'),
      rate_limited: tooManyLookUps,
    },
  },
  'POST /v1/namespaces/{slug}/invites': {
    tag: 'invites',
    summary: 'Create an invite, as an admin',
    description:
      'The invite is valid for 24 hours. Send its code to the people whom you invite. Each call creates another invite.',
    auth: 'required',
    path: ofNamespace,
    body: json(InviteCreate),
    answer: data(z.object({ invite: InviteView })),
    errors: { forbidden: notAdmin, not_found: noNamespace },
  },
  'GET /v1/namespaces/{slug}/invites': {
    tag: 'invites',
    summary: 'List the invites of a namespace, as an admin',
    description: 'All invites, including those that have expired, were revoked or are used up.',
    auth: 'required',
    path: ofNamespace,
    answer: data(z.object({ invites: z.array(InviteView).meta({ description: 'The invites' }) })),
    errors: { forbidden: notAdmin, not_found: noNamespace },
  },
  'DELETE /v1/namespaces/{slug}/invites/{code}': {
    tag: 'invites',
    summary: 'Revoke an invite, as an admin',
    description:
      'The code of the invite stops working. Users who joined by the invite stay members. Revoking it again changes nothing.',
    auth: 'required',
    path: { ...ofNamespace, ...ofCode },
    answer: data(z.object({ revoked: done('The invite is revoked') })),
    errors: {
      forbidden: notAdmin,
      not_found: 'No namespace has this slug, or no invite to it has this code. Check both.',
    },
  },
} as const satisfies Api
