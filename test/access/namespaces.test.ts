import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import { png } from '../support/pictures.ts'
import type { Caller as Asker } from '../support/world.ts'
import { type Caller, callers, openTeam, standingOf } from './team.ts'

const test = suite('who may do what to a namespace')
const { app, team } = await openTeam(test, 'team')
const url = `/v1/namespaces/${team.slug}`
const { admin } = team
const newInvite = async () => (await admin.send<{ invite: InviteView }>('POST', `${url}/invites`, {})).invite.code

type Answer = { readonly status: number }
type Row = readonly [
  what: string,
  needs: 'anybody' | 'signed in' | 'member' | 'admin',
  by: (caller: Asker) => Promise<Answer>,
]

/** What each verb needs. */
const rows: readonly Row[] = [
  ['see it', 'anybody', ({ ask }) => ask('GET', url)],
  ['list its public traces', 'anybody', ({ ask }) => ask('GET', `${url}/traces`)],
  ['look at an invite', 'anybody', async ({ ask }) => ask('GET', `/v1/invites/${await newInvite()}`)],
  ['list the own namespaces', 'signed in', ({ ask }) => ask('GET', '/v1/namespaces')],
  ['see who is in it', 'member', ({ ask }) => ask('GET', `${url}/members`)],
  ['enter it', 'member', ({ ask }) => ask('POST', '/v1/session/switch', { slug: team.slug })],
  ['rename it', 'admin', ({ ask }) => ask('PATCH', url, { displayName: 'x' })],
  ['change nothing of it', 'admin', ({ ask }) => ask('PATCH', url, {})],
  ['see its invites', 'admin', ({ ask }) => ask('GET', `${url}/invites`)],
  ['invite', 'admin', ({ ask }) => ask('POST', `${url}/invites`, {})],
  ['revoke an invite', 'admin', async ({ ask }) => ask('DELETE', `${url}/invites/${await newInvite()}`)],
  ['change a role', 'admin', ({ ask }) => ask('PATCH', `${url}/members/${team.userOf('member')}`, { role: 'member' })],
  [
    'give it a picture',
    'admin',
    async ({ headers: own }) => {
      const headers = { 'content-type': 'image/png', ...own }
      const { statusCode } = await app.app.inject({ method: 'PUT', url: `${url}/avatar`, headers, payload: png })
      return { status: statusCode }
    },
  ],
]

/** A device of the admin, who is known to all others by name and id only. */
const deviceOfAdmin = async () => {
  const { identities } = await admin.send<{ identities: { id: string }[] }>('GET', '/v1/user/identities')
  return identities[0]!.id
}

test('a device is named by its own user only, whatever role others have in a namespace', async () => {
  const id = await deviceOfAdmin()
  for (const caller of callers) {
    const { status } = await team.as(caller, 'here').ask('PATCH', `/v1/user/identities/${id}`, { name: caller })
    assert.is(status, standingOf(caller) === 'nobody' ? 401 : caller === 'admin' ? 200 : 404, caller)
  }
})

const expected = (needs: Row[1], caller: Caller): number => {
  const standing = standingOf(caller)
  if (needs === 'anybody') return 200
  if (standing === 'nobody') return 401
  if (needs === 'signed in' || standing === 'admin') return 200
  return needs === 'member' && standing !== 'stranger' ? 200 : 403
}

for (const [what, needs, by] of rows) {
  test(`to ${what} one must be ${needs}`, async () => {
    for (const caller of callers) {
      const { status } = await by(team.as(caller, 'elsewhere'))
      assert.is(status, expected(needs, caller), caller)
    }
  })
}

test('only members see their role, and traces that are not public', async () => {
  for (const caller of callers) {
    const { send } = team.as(caller, 'elsewhere')
    const isMember = !['nobody', 'stranger'].includes(standingOf(caller))
    const { namespace } = await send<{ namespace: object }>('GET', url)
    assert.is('role' in namespace, isMember, caller)
    const { traces } = await send<{ traces: { visibility: string }[] }>('GET', `${url}/traces`)
    const shown = traces.map(({ visibility }) => visibility).sort()
    assert.equal(shown, isMember ? ['direct', 'private', 'public'] : ['public'], caller)
  }
})

test('each trace of a list says who has created it', async () => {
  for (const caller of callers) {
    const { send } = team.as(caller, 'here')
    const { traces } = await send<{ traces: { createdBy: string }[] }>('GET', `${url}/traces`)
    assert.equal([...new Set(traces.map(({ createdBy }) => createdBy))], [team.userOf('former')], caller)
  }
})

test('a member can remove nobody else, but can leave', async () => {
  const remove = async (who: Caller, by: Asker) => (await by.ask('DELETE', `${url}/members/${team.userOf(who)}`)).status
  const member = team.as('member', 'here')
  assert.is(await remove('creator', member), 403)
  assert.is(await remove('admin', member), 403)
  assert.is(await remove('stranger', admin), 404)
  assert.is(await remove('member', member), 200)
  assert.is(await remove('admin', admin), 409)
})

test.run()
