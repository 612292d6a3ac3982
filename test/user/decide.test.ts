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
} from '../../src/user/decide.ts'
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

const removed = (identityId: string): UserEvent => ({ type: 'IdentityRemoved', data: { identityId } })

test('an identity is removed once', () =>
  givenUser(created)
    .when(removeIdentity('a', ['b']))
    .emitsOnce('not_found', removed('a')))
test('codes of an identity that is there are good', () =>
  givenUser(created, removed('b')).accepts(assertHasIdentity('a')))
test('not those of a removed one', () =>
  givenUser(created, removed('a')).refuses(assertHasIdentity('a'), 'code_expired'))
test('nor of a user who never was', () => givenUser().refuses(assertHasIdentity('a'), 'code_expired'))
test('the last one stays', () => givenUser(created).when(removeIdentity('a', [])).rejects('last_identity'))
test('so it does when the others have been removed meanwhile', () =>
  givenUser(created, removed('b'), removed('c'))
    .when(removeIdentity('a', ['b', 'c']))
    .rejects('last_identity'))
test('one of the others is enough, also after a new name', () =>
  givenUser(created, removed('b'), renamed)
    .when(removeIdentity('a', ['b', 'c']))
    .emitsOnce('not_found', removed('a')))
test('nobody has no identity', () =>
  givenUser()
    .when(removeIdentity('a', ['b']))
    .rejects('not_found'))
test('one that should not have been created goes, also where it is the only one', () =>
  givenUser(created, removed('b')).when(withdrawIdentity('a')).emits(removed('a')))
test('of a user who never was nothing goes', () => givenUser().when(withdrawIdentity('a')).emits())
test('a removal leaves the name alone', () => givenUser(created, renamed, removed('b')).when(rename('Ada')).emits())

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

const named: IdentityEvent = { type: 'IdentityNamed', data: { name: 'my laptop' } }

test('an identity has the name that its user gives it', () =>
  givenIdentity(device).when(nameIdentity('u', 'my laptop')).emits(named))
test('the same name again changes nothing', () =>
  givenIdentity(device, named, refreshed).when(nameIdentity('u', 'my laptop')).emits())
test('another user names it not', () => givenIdentity(device).when(nameIdentity('other', 'x')).rejects('not_found'))
test('an unknown identity is not named', () => givenIdentity().when(nameIdentity('u', 'x')).rejects('not_found'))

test.run()
