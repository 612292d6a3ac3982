import { z } from 'zod'
import { EXAMPLE_ID, done, flag, id, text } from './fields.ts'
import { Key, ShortText } from './parameters.ts'
import { type Api, data, json } from './route.ts'

export const UserView = z
  .object({ id: id('the user'), displayName: text('The name that the user has chosen', 'Ada').optional() })
  .meta({ id: 'User', description: 'A user, as everybody sees it' })
export type UserView = z.infer<typeof UserView>

export const IdentityType = z.enum(['device', 'codehost'])
export type IdentityType = z.infer<typeof IdentityType>

/** An identity without its key: a device's id is a credential. */
export const IdentityView = z
  .object({
    id: id('the identity'),
    type: IdentityType.meta({ description: '`device`: a machine; `codehost`: an account at the code host' }),
    login: text('The name of the account at the code host', 'ada').optional(),
    avatarUrl: text('The address of the picture of the account at the code host').optional(),
    email: text('The e-mail address that the code host gave', 'ada@example.org').optional(),
    emailVerified: flag('Whether the code host has verified the address').optional(),
    name: text('The name that you have given it; absent if it has none', 'my laptop').optional(),
  })
  .meta({ id: 'Identity', description: 'A device or an account that a user signs in with' })
export type IdentityView = z.infer<typeof IdentityView>

const UserUpdate = z
  .object({
    displayName: ShortText.meta({ description: 'The name that others see', examples: ['Ada'] }).optional(),
  })
  .meta({ id: 'UserUpdate', description: 'The fields of the user that change', examples: [{ displayName: 'Ada' }] })

const IdentityUpdate = z
  .object({ name: ShortText.min(1).meta({ description: 'The new name', examples: ['my laptop'] }) })
  .meta({
    id: 'IdentityUpdate',
    description: 'The fields of the identity that change',
    examples: [{ name: 'my laptop' }],
  })

const ofIdentity = { id: Key.meta({ description: 'The id of the identity', examples: [EXAMPLE_ID] }) }
const noIdentity =
  'No identity of yours has this id, or it was removed. `GET /v1/user/identities` lists your identities.'

const OneUser = z.object({ user: UserView })

/** The caller's own user, and its identities. */
export const users = {
  'GET /v1/user': {
    tag: 'users',
    summary: 'Read your user',
    description: 'The user that the session belongs to.',
    auth: 'required',
    answer: data(OneUser),
  },
  'PATCH /v1/user': {
    tag: 'users',
    summary: 'Change your user',
    description:
      'Changes the name that others see. Fields that the body does not have keep their values; sending the current name changes nothing.',
    auth: 'required',
    body: json(UserUpdate),
    answer: data(OneUser),
  },
  'GET /v1/user/identities': {
    tag: 'users',
    summary: 'List the devices and accounts that you can sign in with',
    description:
      'The oldest identity comes first. The answer never shows the `deviceId` of a device, because it is a secret.',
    auth: 'required',
    answer: data(z.object({ identities: z.array(IdentityView).meta({ description: 'Your identities' }) })),
  },
  'PATCH /v1/user/identities/{id}': {
    tag: 'users',
    summary: 'Name a device or an account that you sign in with',
    description: 'Only you see the name. Giving an identity its current name changes nothing.',
    auth: 'required',
    path: ofIdentity,
    body: json(IdentityUpdate),
    answer: data(z.object({ identity: IdentityView })),
    errors: { not_found: noIdentity },
  },
  'DELETE /v1/user/identities/{id}': {
    id: 'deleteUserIdentity',
    tag: 'users',
    summary: 'Remove a device or an account that you sign in with',
    description: 'Its sessions end. Signing in with it again creates a new user.',
    auth: 'required',
    path: ofIdentity,
    answer: data(z.object({ removed: done('The identity was removed') })),
    errors: {
      not_found: noIdentity,
      last_identity: 'It is the only identity that you can sign in with. Add another device or account first.',
    },
  },
} as const satisfies Api
