import { suite } from 'uvu'
import { assertMayGiveCode, revoke, sessions, signOut, start, switchTo } from '../../../src/server/session/decide.ts'
import type { SessionEvent } from '../../../src/server/session/events.ts'
import { specify } from '../../support/given.ts'

const given = specify(sessions)
const test = suite('session')

const later = Date.UTC(2030, 0, 1)
const terms = { userId: 'ada', identityId: 'device', tokenHash: 'hash', expiresAt: later }
const started: SessionEvent = { type: 'SessionCreated', data: terms }
const switched: SessionEvent = { type: 'SessionSwitched', data: { namespaceId: 'acme' } }
const revoked: SessionEvent = { type: 'SessionRevoked', data: {} }

test('a session starts once', () => given().when(start(terms)).emits(started))
test('a session switches to another namespace', () => given(started).when(switchTo('ada', 'acme')).emits(switched))
test('switching to the active namespace changes nothing', () =>
  given(started, switched).when(switchTo('ada', 'acme')).emits())
test('only its user can switch a session', () => given(started).when(switchTo('eve', 'acme')).rejects('not_found'))
test('its user can end a session', () => given(started).when(revoke('ada')).emitsOnce('not_found', revoked))
test('another user cannot end a session', () => given(started).when(revoke('eve')).rejects('not_found'))
test('a session that never existed cannot be ended', () => given().when(revoke('ada')).rejects('not_found'))
test('an expired session cannot be ended', () => given(started).when(revoke('ada'), later).rejects('not_found'))
test('an expired session cannot be switched', () =>
  given(started).when(switchTo('ada', 'acme'), later).rejects('not_found'))
test('a session can sign out', () => given(started).when(signOut()).emits(revoked))
test('a session that has ended cannot be switched', () =>
  given(started, revoked).when(switchTo('ada', 'acme')).rejects('not_found'))

test('one-time codes are valid while their session is', () =>
  given(started, switched).accepts(assertMayGiveCode('ada')))
test('one-time codes are not valid after the end of their session', () =>
  given(started, revoked).refuses(assertMayGiveCode('ada'), 'code_expired'))
test('one-time codes are not valid after their session has expired', () =>
  given(started).refuses(assertMayGiveCode('ada'), 'code_expired', later))
test('one-time codes are not valid for another user', () =>
  given(started).refuses(assertMayGiveCode('eve'), 'code_expired'))
test('one-time codes are not valid for a session that never existed', () =>
  given().refuses(assertMayGiveCode('ada'), 'code_expired'))

test.run()
