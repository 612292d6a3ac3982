import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { FeedTrace } from '../../../src/contract/feed.ts'
import { type ListedTraces, sessionsOfNamespace } from '../../../src/server/feed/session-lists.ts'
import { openTeam } from '../../access/team.ts'

const test = suite('feed: the sessions of a namespace')
const { app, team } = await openTeam(test)
const put = (visibility: string) =>
  app.call('PUT', `/v1/traces/ours-${visibility}`, { token: team.tokenOf('creator', 'here'), body: { visibility } })
for (const visibility of ['private', 'public']) assert.is((await put(visibility)).status, 200)

const list = async (which: ListedTraces): Promise<string[]> => {
  const asked = { namespaceId: team.namespaceId, which, limit: 10, cursor: undefined }
  const { traces } = await sessionsOfNamespace(app.service, asked)
  return traces.map(({ externalId }: FeedTrace) => externalId).sort()
}

const OURS = ['ours-private', 'ours-public']
const FORMER = ['former-direct', 'former-private', 'former-public']

test('has all for members, the own ones for those who ask for them, and the public ones for all others', async () => {
  assert.equal(await list({ kind: 'all', member: team.userOf('member') }), [...FORMER, ...OURS])
  assert.equal(await list({ kind: 'authored', member: team.userOf('creator') }), OURS)
  assert.equal(await list({ kind: 'authored', member: team.userOf('member') }), [])
  assert.equal(await list({ kind: 'public' }), ['former-public', 'ours-public'])
})

test('has nothing for one who was a member when the request began, not even what they recorded', async () => {
  for (const kind of ['all', 'authored'] as const) assert.equal(await list({ kind, member: team.userOf('former') }), [])
})

test.run()
