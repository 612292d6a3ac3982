import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import { png } from '../support/pictures.ts'
import { type Caller, callers, openTeam, standingOf } from './team.ts'

const test = suite('who may do what to a namespace')
const { app, team } = await openTeam(test, 'team')
const { call } = app
const url = `/v1/namespaces/${team.slug}`
const admin = team.tokenOf('admin', 'here')
const newInvite = async () =>
  ((await call('POST', `${url}/invites`, { token: admin, body: {} })).data as { invite: InviteView }).invite.code

type Token = string | undefined
type Answer = { readonly status: number }
type Row = readonly [
  what: string,
  needs: 'anybody' | 'signed in' | 'member' | 'admin',
  ask: (token: Token) => Promise<Answer>,
]

/** What each verb needs. */
const rows: readonly Row[] = [
  ['see it', 'anybody', (token) => call('GET', url, { token })],
  ['list its public traces', 'anybody', (token) => call('GET', `${url}/traces`, { token })],
  ['look at an invite', 'anybody', async (token) => call('GET', `/v1/invites/${await newInvite()}`, { token })],
  ['list the own namespaces', 'signed in', (token) => call('GET', '/v1/namespaces', { token })],
  ['see who is in it', 'member', (token) => call('GET', `${url}/members`, { token })],
  ['enter it', 'member', (token) => call('POST', '/v1/session/switch', { token, body: { slug: team.slug } })],
  ['rename it', 'admin', (token) => call('PATCH', url, { token, body: { displayName: 'x' } })],
  ['change nothing of it', 'admin', (token) => call('PATCH', url, { token, body: {} })],
  ['see its invites', 'admin', (token) => call('GET', `${url}/invites`, { token })],
  ['invite', 'admin', (token) => call('POST', `${url}/invites`, { token, body: {} })],
  ['revoke an invite', 'admin', async (token) => call('DELETE', `${url}/invites/${await newInvite()}`, { token })],
  [
    'change a role',
    'admin',
    (token) => call('PATCH', `${url}/members/${team.userOf('member')}`, { token, body: { role: 'member' } }),
  ],
  [
    'give it a picture',
    'admin',
    async (token) => {
      const headers = { 'content-type': 'image/png', ...(token ? { authorization: `Bearer ${token}` } : {}) }
      const { statusCode } = await app.app.inject({ method: 'PUT', url: `${url}/avatar`, headers, payload: png })
      return { status: statusCode }
    },
  ],
]

/** A device of the admin, who is known to all others by name and id only. */
const deviceOfAdmin = async () => {
  const { identities } = (await call('GET', '/v1/user/identities', { token: admin })).data as {
    identities: { id: string }[]
  }
  return identities[0]!.id
}

test('a device is named by its own user only, whatever role others have in a namespace', async () => {
  const id = await deviceOfAdmin()
  for (const caller of callers) {
    const token = team.tokenOf(caller, 'here')
    const { status } = await call('PATCH', `/v1/user/identities/${id}`, { token, body: { name: caller } })
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

for (const [what, needs, ask] of rows) {
  test(`to ${what} one must be ${needs}`, async () => {
    for (const caller of callers) {
      const { status } = await ask(team.tokenOf(caller, 'elsewhere'))
      assert.is(status, expected(needs, caller), caller)
    }
  })
}

test('only members see their role, and traces that are not public', async () => {
  for (const caller of callers) {
    const token = team.tokenOf(caller, 'elsewhere')
    const isMember = !['nobody', 'stranger'].includes(standingOf(caller))
    const { namespace } = (await call('GET', url, { token })).data as { namespace: object }
    assert.is('role' in namespace, isMember, caller)
    const { traces } = (await call('GET', `${url}/traces`, { token })).data as { traces: { visibility: string }[] }
    const shown = traces.map(({ visibility }) => visibility).sort()
    assert.equal(shown, isMember ? ['direct', 'private', 'public'] : ['public'], caller)
  }
})

test('each trace of a list says who has created it', async () => {
  for (const caller of callers) {
    const token = team.tokenOf(caller, 'here')
    const { traces } = (await call('GET', `${url}/traces`, { token })).data as { traces: { createdBy: string }[] }
    assert.equal([...new Set(traces.map(({ createdBy }) => createdBy))], [team.userOf('former')], caller)
  }
})

test('a member can remove nobody else, but can leave', async () => {
  const remove = async (who: Caller, token: Token) =>
    (await call('DELETE', `${url}/members/${team.userOf(who)}`, { token })).status
  const member = team.tokenOf('member', 'here')
  assert.is(await remove('creator', member), 403)
  assert.is(await remove('admin', member), 403)
  assert.is(await remove('stranger', admin), 404)
  assert.is(await remove('member', member), 200)
  assert.is(await remove('admin', admin), 409)
})

test.run()
