import { suite } from 'uvu'
import { changeAvatar } from '../../src/namespace/decide-avatar.ts'
import { namespaces } from '../../src/namespace/decide.ts'
import type { NamespaceEvent } from '../../src/namespace/events.ts'
import { specify } from '../support/given.ts'

const test = suite('the avatar of a namespace')
const given = specify(namespaces)
const terms = { slug: 'acme', displayName: 'Acme', type: 'org', claimedBy: 'user', createdBy: 'ada' } as const
const past: NamespaceEvent[] = [
  { type: 'NamespaceCreated', data: terms },
  { type: 'MemberJoined', data: { userId: 'ada', role: 'admin' } },
  { type: 'MemberJoined', data: { userId: 'bob', role: 'member' } },
]
const changed: NamespaceEvent = { type: 'AvatarChanged', data: { storageId: 'one' } }

test('an admin changes it', () =>
  given(...past)
    .when(changeAvatar('ada', 'one'))
    .emits(changed))
test('another one takes its place', () =>
  given(...past, changed)
    .when(changeAvatar('ada', 'two'))
    .emits({ type: 'AvatarChanged', data: { storageId: 'two' } }))
test('a member does not', () =>
  given(...past)
    .when(changeAvatar('bob', 'one'))
    .rejects('forbidden'))
test('a stranger does not', () =>
  given(...past)
    .when(changeAvatar('eve', 'one'))
    .rejects('forbidden'))
test('a namespace that is not there has none', () => given().when(changeAvatar('ada', 'one')).rejects('not_found'))

test.run()
