import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { indexed, searchAs } from '../server/search/support/open-search.ts'
import { openTeam, callers, standingOf } from './team.ts'

const test = suite('who finds what')
const visibilities = ['private', 'direct', 'public'] as const

const { app, team } = await openTeam(test, 'finders')
const { creator } = team
const put = (path: string, body: object) => creator.send('PUT', `/v1/traces/${path}`, body)

for (const visibility of visibilities) {
  const secret = `secret${visibility}`
  await put(visibility, { visibility, title: `title ${secret}`, agentId: secret, projectName: secret })
  await put(`${visibility}/messages/m`, { role: 'user', textContent: `word ${secret}` })
}
await indexed(app)

const queries = (secret: string) => [
  `q=${secret}&facets=agent,role,project,author,namespace,tool,model`,
  `q=${secret}&sort=newest&namespace=finders`,
  `agent=${secret}&facets=agent`,
  `q=project:${secret}`,
  `q=${encodeURIComponent(`"word ${secret}" -other`)}`,
  `q=${encodeURIComponent(`nothing OR ${secret} in:prompt`)}`,
  `q=${secret}&author=${team.userOf('creator')}`,
]

for (const caller of callers)
  test(`${caller} finds what ${caller} may read, and learns nothing about the rest`, async () => {
    const isMember = !['nobody', 'stranger'].includes(standingOf(caller))
    for (const place of ['here', 'elsewhere'] as const)
      for (const visibility of visibilities)
        for (const query of queries(`secret${visibility}`)) {
          const answer = await searchAs(app, team.tokenOf(caller, place), query)
          const { results, total, facets = {}, complete, nextCursor } = answer
          if (isMember || visibility === 'public') {
            assert.equal(results.map(({ trace }) => trace.externalId), [visibility], query) // prettier-ignore
            continue
          }
          assert.equal([results, total, complete, nextCursor], [[], { value: 0, exact: true }, true, undefined], query)
          assert.equal(Object.values(facets).flat(), [], query)
          assert.not.match(JSON.stringify(answer), `secret${visibility}`)
        }
  })

test('the name of an author is known to those who share a namespace with them', async () => {
  const id = team.userOf('creator')
  await creator.send('PATCH', '/v1/user', { displayName: 'Ada Finder' })
  for (const [caller, value, found] of [
    ['member', 'Ada Finder', 3],
    ['stranger', 'Ada Finder', 0],
    ['member', id, 3],
    ['stranger', id, 1],
  ] as const) {
    const { results } = await searchAs(app, team.tokenOf(caller, 'here'), `q=word&author=${encodeURIComponent(value)}`)
    assert.is(results.length, found, `${caller}: ${value}`)
  }
})

test.run()
