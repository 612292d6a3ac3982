import { suite } from 'uvu'
import {
  assertHasIdentity,
  createIdentity,
  createUser,
  identities,
  nameIdentity,
  refresh,
  removeIdentity,
  rename,
  users,
  withdrawIdentity,
} from '../../../src/server/user/decide.ts'
import type { IdentityEvent, UserEvent } from '../../../src/server/user/events.ts'
import { specify } from '../../support/given.ts'

const givenUser = specify(users)
const givenIdentity = specify(identities)
const test = suite('user')

const created: UserEvent = { type: 'UserCreated', data: {} }
const renamed: UserEvent = { type: 'UserRenamed', data: { displayName: 'Ada' } }

test('a user is created once', () => givenUser().when(createUser()).emits(created))
test('a user is created with a name, if one is given', () =>
  givenUser()
    .when(createUser('Ada'))
    .emits({ type: 'UserCreated', data: { displayName: 'Ada' } }))
test('a user is created with the slug that the sign-up asks for, if it asks for one', () =>
  givenUser()
    .when(createUser(undefined, 'ada'))
    .emits({ type: 'UserCreated', data: { slug: 'ada' } }))
test('a user that exists does not change', () => givenUser(created, renamed).when(createUser('Eve')).emits())
test('a user takes a name', () => givenUser(created).when(rename('Ada')).emits(renamed))
test('the same name again changes nothing', () => givenUser(created, renamed).when(rename('Ada')).emits())
test('a user that does not exist cannot take a name', () => givenUser().when(rename('Ada')).rejects('not_found'))

const removed = (identityId: string): UserEvent => ({ type: 'IdentityRemoved', data: { identityId } })

test('an identity is removed once', () =>
  givenUser(created)
    .when(removeIdentity('a', ['b']))
    .emitsOnce('not_found', removed('a')))
test('codes of an identity that exists are valid', () =>
  givenUser(created, removed('b')).accepts(assertHasIdentity('a')))
test('codes of a removed identity are not valid', () =>
  givenUser(created, removed('a')).refuses(assertHasIdentity('a'), 'code_expired'))
test('codes of a user that never existed are not valid', () =>
  givenUser().refuses(assertHasIdentity('a'), 'code_expired'))
test('the last identity cannot be removed', () =>
  givenUser(created).when(removeIdentity('a', [])).rejects('last_identity'))
test('the last identity cannot be removed, also if the others have been removed meanwhile', () =>
  givenUser(created, removed('b'), removed('c'))
    .when(removeIdentity('a', ['b', 'c']))
    .rejects('last_identity'))
test('an identity can be removed while another one is left, even after a new name', () =>
  givenUser(created, removed('b'), renamed)
    .when(removeIdentity('a', ['b', 'c']))
    .emitsOnce('not_found', removed('a')))
test('a user that does not exist has no identity to remove', () =>
  givenUser()
    .when(removeIdentity('a', ['b']))
    .rejects('not_found'))
test('an identity that should not have been created can be withdrawn, even if it is the only one', () =>
  givenUser(created, removed('b')).when(withdrawIdentity('a')).emits(removed('a')))
test('for a user that never existed a withdrawal does nothing', () => givenUser().when(withdrawIdentity('a')).emits())
test('a removal does not change the name', () => givenUser(created, renamed, removed('b')).when(rename('Ada')).emits())

const device: IdentityEvent = { type: 'IdentityCreated', data: { userId: 'u', type: 'device', key: 'k' } }
const profile = { providerData: { login: 'ada' }, email: 'ada@example.org', emailVerified: true }
const refreshed: IdentityEvent = { type: 'IdentityRefreshed', data: profile }

test('an identity is created once', () =>
  givenIdentity()
    .when(createIdentity({ userId: 'u', type: 'device', key: 'k' }))
    .emits(device))
test('an identity keeps its user when another user claims it', () =>
  givenIdentity(device)
    .when(createIdentity({ userId: 'other', type: 'device', key: 'k' }))
    .emits())
test('an identity takes the profile that its provider returns', () =>
  givenIdentity(device).when(refresh(profile)).emits(refreshed))
test('the same again changes nothing', () =>
  givenIdentity(device, refreshed)
    .when(refresh({ ...profile }))
    .emits())
test('an e-mail address that is no longer verified is recorded', () =>
  givenIdentity(device, refreshed)
    .when(refresh({ emailVerified: false }))
    .emits({ type: 'IdentityRefreshed', data: { emailVerified: false } }))
test('an unknown identity has nothing to refresh', () => givenIdentity().when(refresh(profile)).rejects('not_found'))

const named: IdentityEvent = { type: 'IdentityNamed', data: { name: 'my laptop' } }

test('an identity has the name that its user gives it', () =>
  givenIdentity(device).when(nameIdentity('u', 'my laptop')).emits(named))
test('the same name again changes nothing', () =>
  givenIdentity(device, named, refreshed).when(nameIdentity('u', 'my laptop')).emits())
test('another user cannot name the identity', () =>
  givenIdentity(device).when(nameIdentity('other', 'x')).rejects('not_found'))
test('an unknown identity cannot be named', () => givenIdentity().when(nameIdentity('u', 'x')).rejects('not_found'))

test.run()
