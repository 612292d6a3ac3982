import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identities } from '../../../projections/identities.ts'
import { members } from '../../../projections/members.ts'
import { namespaces } from '../../../projections/namespaces.ts'
import { sessions } from '../../../projections/sessions.ts'
import { users } from '../../../projections/users.ts'
import { namespaceId } from '../../../src/base/ids.ts'
import type { NamespaceType } from '../../../src/contract/namespaces.ts'
import { readCaller } from '../../../src/server/session/queries.ts'
import { NOON, type StreamEvent, decodedEvents, openModels } from '../../projections/support.ts'

const test = suite('callers')
const models = await openModels(users, identities, sessions, namespaces, members)
test.after(() => models.close())

const [ada, device, session] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
  string,
]

const namespace = (slug: string, type: NamespaceType): StreamEvent => ({
  stream: `namespace-${namespaceId(slug)}`,
  event: { type: 'NamespaceCreated', data: { slug, displayName: slug, type, claimedBy: 'user', createdBy: ada } },
})
const joined = (slug: string): StreamEvent => ({
  stream: `namespace-${namespaceId(slug)}`,
  event: { type: 'MemberJoined', data: { userId: ada, role: 'member' } },
})
const left = (slug: string): StreamEvent => ({
  stream: `namespace-${namespaceId(slug)}`,
  event: { type: 'MemberRemoved', data: { userId: ada } },
})
const begun = (slug?: string): StreamEvent => ({
  stream: `session-${session}`,
  event: {
    type: 'SessionCreated',
    data: {
      userId: ada,
      identityId: device,
      tokenHash: 'hash',
      deviceName: 'half \ud83d',
      expiresAt: NOON,
      ...(slug === undefined ? {} : { namespaceId: namespaceId(slug) }),
    },
  },
})
const world = [
  namespace('old-org', 'org'),
  namespace('home', 'individual'),
  namespace('second', 'individual'),
  namespace('new-org', 'org'),
]

const callerAfter = async (...events: StreamEvent[]) => {
  const { apply, rows, close } = await models.model()
  await apply(decodedEvents([...world, ...events]))
  const found = await readCaller({ rows: (_name, text, values) => rows(text, values) }, 'hash')
  await close()
  return found
}

const active = async (...events: StreamEvent[]) => (await callerAfter(...events)).caller?.namespace

const all = [joined('old-org'), joined('home'), joined('second'), joined('new-org')]

test('a session is active in the namespace that was chosen for it', async () =>
  assert.equal(await active(...all, begun('new-org')), { id: namespaceId('new-org'), slug: 'new-org', role: 'member' }))
test('a session without a chosen namespace is active in the oldest individual one', async () =>
  assert.is((await active(...all, begun()))?.slug, 'home'))
test('a session whose user has left the chosen namespace is active in the oldest individual one', async () =>
  assert.is((await active(...all, begun('new-org'), left('new-org')))?.slug, 'home'))
test('a session of a user without an individual namespace is active in that of the oldest membership', async () =>
  assert.is((await active(joined('old-org'), joined('new-org'), begun('home')))?.slug, 'old-org'))
test('a session of a user without memberships is active in no namespace', async () =>
  assert.is(await active(begun('home')), undefined))

test('a caller comes with the position of its snapshot', async () => {
  const { caller, position } = await callerAfter(...all, begun())
  assert.is(position, 9n)
  const { namespace: _, ...rest } = caller!
  const known = { userId: ada, identityId: device, sessionId: session }
  assert.equal(rest, { ...known, via: 'bearer', deviceName: 'half \ud83d', expiresAt: NOON })
})

test('a session of a removed identity has no caller, whichever event came first', async () => {
  const removed: StreamEvent = {
    stream: `user-${ada}`,
    event: { type: 'IdentityRemoved', data: { identityId: device } },
  }
  assert.is((await callerAfter(...all, begun(), removed)).caller, undefined)
  assert.is((await callerAfter(...all, removed, begun())).caller, undefined)
})

test('a revoked session has no caller', async () => {
  const revoked: StreamEvent = { stream: `session-${session}`, event: { type: 'SessionRevoked', data: {} } }
  assert.is((await callerAfter(...all, begun(), revoked)).caller, undefined)
})

test.run()
