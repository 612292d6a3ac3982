import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Visibility } from '../../../src/contract/trace.ts'
import { callers, openTeam, standingOf } from '../../access/team.ts'
import { callerOf } from '../../support/world.ts'

const test = suite('web: who may read the page of a session, and parts of it')

const { app, team } = await openTeam(test)
const creator = team.tokenOf('creator', 'here')

const visibilities = ['private', 'direct', 'public'] as const satisfies readonly Visibility[]
for (const visibility of visibilities) {
  await app.call('PUT', `/v1/traces/${visibility}`, {
    token: creator,
    body: { visibility, title: 'A title', agentId: 'codex' },
  })
  const message = { role: 'user', parts: [{ type: 'text', content: { text: 'some words' } }] }
  await app.call('PUT', `/v1/traces/${visibility}/messages/m`, { token: creator, body: message })
}

const doors = [
  '',
  '?m=m',
  '?view=talk',
  '/-/rows?from=0',
  '/-/rows?changedSince=0',
  '/-/changes',
  '/-/continue',
  '/-/continue?m=m',
  '/-/message/m',
  '/-/message/m?fragment',
  '/-/message/m?part=0',
]

for (const caller of callers)
  for (const place of ['here', 'elsewhere'] as const)
    test(`${caller}, ${place}, may read all parts of the page by the session’s visibility, or none`, async () => {
      const standing = standingOf(caller)
      const token = team.tokenOf(caller, place)
      for (const visibility of visibilities)
        for (const door of doors) {
          const { statusCode, body } = await callerOf(app, token).open(`/@the-team/${visibility}${door}`)
          const may = visibility === 'public' || !['nobody', 'stranger'].includes(standing)
          assert.is(statusCode, may ? 200 : standing === 'nobody' ? 401 : 404, `${visibility}${door}`)
          assert.is(/some words|A title/.test(body), may, `${visibility}${door}`)
        }
    })

test.run()
