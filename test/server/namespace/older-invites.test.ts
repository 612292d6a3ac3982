import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { namespaces, presentNamespace } from '../../../src/server/namespace/decide.ts'
import { acceptInvite } from '../../../src/server/namespace/decide-invites.ts'
import type { Role } from '../../../src/contract/namespaces.ts'
import type { NamespaceEvent } from '../../../src/server/namespace/events.ts'
import { type Past, foldAll, specify } from '../../support/given.ts'

const given = specify(namespaces)
const test = suite('removed and demoted members, and older invites')

const founded: NamespaceEvent[] = [
  {
    type: 'NamespaceCreated',
    data: { slug: 'acme', displayName: 'Acme', type: 'org', claimedBy: 'user', createdBy: 'ada' },
  },
  { type: 'MemberJoined', data: { userId: 'ada', role: 'admin' } },
  { type: 'MemberJoined', data: { userId: 'bob', role: 'admin' } },
]
const by = (userId: string, event: NamespaceEvent): Past<NamespaceEvent> => ({ ...event, actor: { userId } })
const NEVER = Date.UTC(2030, 0, 1)
const invited = (invitedBy: string, role: Role, code = 'abc'): Past<NamespaceEvent> =>
  by(invitedBy, { type: 'InviteCreated', data: { code, invitedBy, role, expiresAt: NEVER, maxUses: 0 } })
const joined = (role: Role, invitedBy: string, code = 'abc'): NamespaceEvent => ({
  type: 'MemberJoined',
  data: { userId: 'bob', role, invitedBy, code },
})
const demotedBy = (actor: string) => by(actor, { type: 'MemberRoleChanged', data: { userId: 'bob', role: 'member' } })
const promoted = by('ada', { type: 'MemberRoleChanged', data: { userId: 'bob', role: 'admin' } })
const removedBy = (actor: string) => by(actor, { type: 'MemberRemoved', data: { userId: 'bob' } })
const bob = { id: 'bob', verifiedEmails: [] }
const accept = acceptInvite(bob, 'abc')

/** How Bob goes, and which invites from before do not let him in again. */
const ways: Record<string, { readonly how: readonly Past<NamespaceEvent>[]; readonly barred: readonly Role[] }> = {
  'was removed': { how: [removedBy('ada')], barred: ['admin', 'member'] },
  'was demoted and removed': { how: [demotedBy('ada'), removedBy('ada')], barred: ['admin', 'member'] },
  'was demoted and left': { how: [demotedBy('ada'), removedBy('bob')], barred: ['admin'] },
  'was demoted, promoted again, and left': { how: [demotedBy('ada'), promoted, removedBy('bob')], barred: ['admin'] },
  'stepped down and left': { how: [demotedBy('bob'), removedBy('bob')], barred: [] },
  'stepped down and was removed': { how: [demotedBy('bob'), removedBy('ada')], barred: ['admin', 'member'] },
  left: { how: [removedBy('bob')], barred: [] },
}

for (const [what, { how, barred }] of Object.entries(ways)) {
  for (const role of ['admin', 'member'] as const) {
    for (const maker of ['ada', 'bob']) {
      const invite = `an invite as ${role} that ${maker} has made before`
      if (barred.includes(role))
        test(`who ${what} does not come back by ${invite}`, () =>
          given(...founded, invited(maker, role), ...how)
            .when(accept)
            .rejects('forbidden'))
      else
        test(`who ${what} comes back by ${invite}`, () =>
          given(...founded, invited(maker, role), ...how)
            .when(accept)
            .emits(joined(role, maker)))
    }
    test(`who ${what} comes back by an invite as ${role} that is made after`, () =>
      given(...founded, ...how, invited('ada', role))
        .when(accept)
        .emits(joined(role, 'ada')))
    test(`who ${what} comes back as ${role} by the newer one of two`, () =>
      given(...founded, invited('ada', role, 'old'), ...how, invited('ada', role))
        .when(accept)
        .emits(joined(role, 'ada')))
  }
}

for (const actor of ['ada', 'bob']) {
  for (const when of ['before', 'after']) {
    const steps = [invited('ada', 'admin'), demotedBy(actor)]
    test(`who is a member by ${actor}'s decision stays one, and spends no use of an invite as admin made ${when}`, () => {
      const past = [...founded, ...(when === 'before' ? steps : steps.toReversed())]
      given(...past)
        .when(accept)
        .emits()
      const { members, invites } = presentNamespace(foldAll(namespaces, past))
      assert.equal([members.get('bob')!.role, invites.get('abc')!.useCount], ['member', 0])
    })
  }
}

test('other users may use an invite that is older than a removal', () =>
  given(...founded, invited('ada', 'admin'), removedBy('ada'))
    .when(acceptInvite({ ...bob, id: 'eve' }, 'abc'))
    .emits({ type: 'MemberJoined', data: { userId: 'eve', role: 'admin', invitedBy: 'ada', code: 'abc' } }))

test('a member who came back by a newer invite and left cannot come back by an older one', () =>
  given(
    ...founded,
    invited('ada', 'member'),
    removedBy('ada'),
    invited('ada', 'member', 'new'),
    joined('member', 'ada', 'new'),
    removedBy('bob'),
  )
    .when(accept)
    .rejects('forbidden'))
test('a removal without an actor counts as one by another admin', () =>
  given(...founded, invited('ada', 'member'), { type: 'MemberRemoved', data: { userId: 'bob' } })
    .when(accept)
    .rejects('forbidden'))

test.run()
