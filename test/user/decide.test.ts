import { suite } from 'uvu'
import { createIdentity, createUser, identities, refresh, rename, users } from '../../src/user/decide.ts'
import type { IdentityEvent, UserEvent } from '../../src/user/events.ts'
import { specify } from '../support/given.ts'

const givenUser = specify(users)
const givenIdentity = specify(identities)
const test = suite('user')

const created: UserEvent = { type: 'UserCreated', data: {} }
const renamed: UserEvent = { type: 'UserRenamed', data: { displayName: 'Ada' } }

test('a user is created once', () => givenUser().when(createUser()).emits(created))
test('with a name, when there is one', () =>
  givenUser()
    .when(createUser('Ada'))
    .emits({ type: 'UserCreated', data: { displayName: 'Ada' } }))
test('one that is there stays as it is', () => givenUser(created, renamed).when(createUser('Eve')).emits())
test('a user takes a name', () => givenUser(created).when(rename('Ada')).emits(renamed))
test('the same name again changes nothing', () => givenUser(created, renamed).when(rename('Ada')).emits())
test('nobody has no name', () => givenUser().when(rename('Ada')).rejects('not_found'))

const device: IdentityEvent = { type: 'IdentityCreated', data: { userId: 'u', type: 'device', key: 'k' } }
const profile = { providerData: { login: 'ada' }, email: 'ada@example.org', emailVerified: true }
const refreshed: IdentityEvent = { type: 'IdentityRefreshed', data: profile }

test('an identity is created once', () =>
  givenIdentity()
    .when(createIdentity({ userId: 'u', type: 'device', key: 'k' }))
    .emits(device))
test('an identity keeps its user, whoever asks', () =>
  givenIdentity(device)
    .when(createIdentity({ userId: 'other', type: 'device', key: 'k' }))
    .emits())
test('an identity takes over what its provider says', () =>
  givenIdentity(device).when(refresh(profile)).emits(refreshed))
test('the same again changes nothing', () =>
  givenIdentity(device, refreshed)
    .when(refresh({ ...profile }))
    .emits())
test('an address that is no longer verified is noted', () =>
  givenIdentity(device, refreshed)
    .when(refresh({ emailVerified: false }))
    .emits({ type: 'IdentityRefreshed', data: { emailVerified: false } }))
test('an unknown identity has nothing to refresh', () => givenIdentity().when(refresh(profile)).rejects('not_found'))

test.run()
