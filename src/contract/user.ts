import { z } from 'zod'
import { EXAMPLE_ID, done, flag, id, text } from './fields.ts'
import { Key, ShortText } from './parameters.ts'
import { type Api, data, json } from './route.ts'

export const UserView = z
  .object({ id: id('the user'), displayName: text('The name that the user has chosen', 'Ada').optional() })
  .meta({ id: 'User', description: 'A user, as everybody sees them' })
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
    name: text('What you call it, if you have named it', 'my laptop').optional(),
  })
  .meta({ id: 'Identity', description: 'A way to sign in as a user' })
export type IdentityView = z.infer<typeof IdentityView>

const UserUpdate = z
  .object({
    displayName: ShortText.meta({ description: 'The name that others see', examples: ['Ada'] }).optional(),
  })
  .meta({ id: 'UserUpdate', description: 'What changes of the user', examples: [{ displayName: 'Ada' }] })

const IdentityUpdate = z
  .object({ name: ShortText.min(1).meta({ description: 'What you call it', examples: ['my laptop'] }) })
  .meta({ id: 'IdentityUpdate', description: 'What changes of the identity', examples: [{ name: 'my laptop' }] })

const ofIdentity = { id: Key.meta({ description: 'The id of the identity', examples: [EXAMPLE_ID] }) }

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
    description: 'Gives you another name. What is not given stays; the same name again changes nothing.',
    auth: 'required',
    body: json(UserUpdate),
    answer: data(OneUser),
  },
  'GET /v1/user/identities': {
    tag: 'users',
    summary: 'List how you can sign in',
    description:
      'Devices and accounts at the code host that sign in as your user, oldest first. The id of a device itself is ' +
      'a secret and is never shown.',
    auth: 'required',
    answer: data(z.object({ identities: z.array(IdentityView).meta({ description: 'Your identities' }) })),
  },
  'PATCH /v1/user/identities/{id}': {
    tag: 'users',
    summary: 'Name a way to sign in',
    description:
      'Gives one of your devices or accounts a name, which only you see. The same name again changes nothing. Errors: ' +
      '`not_found` (404) for one that is not yours or was removed.',
    auth: 'required',
    path: ofIdentity,
    body: json(IdentityUpdate),
    answer: data(z.object({ identity: IdentityView })),
    errors: ['not_found'],
  },
  'DELETE /v1/user/identities/{id}': {
    id: 'deleteUserIdentity',
    tag: 'users',
    summary: 'Remove a way to sign in: its sessions end, and who signs in with it is somebody new',
    description:
      'Ends the sessions of the identity. Who signs in with it afterwards becomes another, new user. Errors: ' +
      '`not_found` (404) for one that is not yours or was removed before; `last_identity` (409) for your only one.',
    auth: 'required',
    path: ofIdentity,
    answer: data(z.object({ removed: done('That the identity is removed') })),
    errors: ['not_found', 'last_identity'],
  },
} as const satisfies Api
