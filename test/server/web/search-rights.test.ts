import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callers, openTeam } from '../../access/team.ts'
import { callerOf } from '../../support/world.ts'
import { indexed } from '../search/support/open-search.ts'

const test = suite('web: what a search tells to whom')
const { app, team } = await openTeam(test)
const { creator } = team

await creator.send('PUT', '/v1/traces/hidden', {
  visibility: 'private',
  agentId: 'agent-hidden',
  projectName: 'hidden',
})
await creator.send('PUT', '/v1/traces/hidden/messages/m', { role: 'user', textContent: 'an ocelot' })
await creator.send('PUT', '/v1/traces/shown', { visibility: 'public', agentId: 'agent-shown', projectName: 'shown' })
await creator.send('PUT', '/v1/traces/shown/messages/m', { role: 'user', textContent: 'a margay, an ocelot' })
await indexed(app)

for (const place of ['here', 'elsewhere'] as const)
  for (const caller of callers)
    test(`${caller}, ${place}: values to narrow a search and looser searches are of sessions that they may read`, async () => {
      const mayRead = ['member', 'creator', 'admin'].includes(caller)
      const body = async (q: string) =>
        (await callerOf(app, team.tokenOf(caller, place)).open(`/search?q=${encodeURIComponent(q)}`)).body
      assert.is((await body('ocelot')).includes('agent-hidden'), mayRead)
      assert.match(await body('ocelot nowhere'), mayRead ? />2 sessions</ : />1 session</)
      assert.not.match(await body('ocelot project:hidden nowhere'), 'Without <b dir="auto">project:hidden')
      for (const [q, without] of [
        ['ocelot project:hidden -an', '-an'],
        ['agent:agent-hidden an nowhere', 'nowhere'],
      ] as const)
        assert.is((await body(q)).includes(`Without <b dir="auto">${without}</b>`), mayRead, q)
    })

test.run()
