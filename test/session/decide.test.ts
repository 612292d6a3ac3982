import { suite } from 'uvu'
import { assertMayGiveCode, revoke, sessions, signOut, start, switchTo } from '../../src/session/decide.ts'
import type { SessionEvent } from '../../src/session/events.ts'
import { specify } from '../support/given.ts'

const given = specify(sessions)
const test = suite('session')

const later = Date.UTC(2030, 0, 1)
const terms = { userId: 'ada', identityId: 'device', tokenHash: 'hash', expiresAt: later }
const started: SessionEvent = { type: 'SessionCreated', data: terms }
const switched: SessionEvent = { type: 'SessionSwitched', data: { namespaceId: 'acme' } }
const revoked: SessionEvent = { type: 'SessionRevoked', data: {} }

test('a session starts once', () => given().when(start(terms)).emits(started))
test('it switches to another namespace', () => given(started).when(switchTo('ada', 'acme')).emits(switched))
test('one that is there already stays', () => given(started, switched).when(switchTo('ada', 'acme')).emits())
test('only its user switches it', () => given(started).when(switchTo('eve', 'acme')).rejects('not_found'))
test('its user ends it', () => given(started).when(revoke('ada')).emitsOnce('not_found', revoked))
test('nobody else does', () => given(started).when(revoke('eve')).rejects('not_found'))
test('one that never was cannot be ended', () => given().when(revoke('ada')).rejects('not_found'))
test('one that has expired has ended', () => given(started).when(revoke('ada'), later).rejects('not_found'))
test('an expired one cannot be switched', () =>
  given(started).when(switchTo('ada', 'acme'), later).rejects('not_found'))
test('a session signs itself out', () => given(started).when(signOut()).emits(revoked))
test('it does not switch after its end', () =>
  given(started, revoked).when(switchTo('ada', 'acme')).rejects('not_found'))

test('while it is valid, its one-time codes are', () => given(started, switched).accepts(assertMayGiveCode('ada')))
test('they end with it', () => given(started, revoked).refuses(assertMayGiveCode('ada'), 'code_expired'))
test('and when it expires', () => given(started).refuses(assertMayGiveCode('ada'), 'code_expired', later))
test('no other user has given them', () => given(started).refuses(assertMayGiveCode('eve'), 'code_expired'))
test('nor a session that never was', () => given().refuses(assertMayGiveCode('ada'), 'code_expired'))

test.run()
