import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newTeam } from '../../access/team.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { until } from '../../support/until.ts'
import { indexed, searchAs } from './support/open-search.ts'

const test = suite('search: what may not be read any more')

const { node: app, other } = await openTwoNodes(test)
const team = await newTeam(app, 'losers')
const { admin } = team

const everything = async (node: typeof app, token: string | undefined, query: string) =>
  JSON.stringify(await searchAs(node, token, `${query}&facets=agent,project`))

/** Traces of which each can be told apart in an answer, and how many of them there are for a page and more. */
const write = async (word: string, visibility: string) => {
  for (const i of [0, 1, 2]) {
    await admin.send('PUT', `/v1/traces/${word}-${i}`, { visibility, agentId: `agent-${word}` })
    await admin.send('PUT', `/v1/traces/${word}-${i}/messages/m`, { role: 'user', textContent: `${word} said` })
  }
  await indexed(app)
}

for (const [what, word, visibility, caller, lose] of [
  [
    'unpublished',
    'unpublished',
    'public',
    'stranger',
    (id: string) => admin.send('PATCH', `/v1/traces/${id}`, { visibility: 'private' }),
  ],
  ['deleted', 'deleted', 'direct', 'member', (id: string) => admin.send('DELETE', `/v1/traces/${id}`)],
] as const)
  test(`a trace that is ${what} is gone from results, counts, facets and later pages`, async () => {
    await write(word, visibility)
    const token = team.tokenOf(caller, 'here')
    const { nextCursor } = await searchAs(app, token, `q=${word}&limit=1`)
    for (const node of [app, other]) assert.match(await everything(node, token, `q=${word}`), `agent-${word}`)
    for (const i of [0, 1, 2]) await lose(`${word}-${i}`)
    for (const query of [`q=${word}`, `q=${word}&limit=1&cursor=${nextCursor}`, `agent=agent-${word}`]) {
      assert.not.match(await everything(app, token, query), word)
      await until(async () => !(await everything(other, token, query)).includes(word))
    }
  })

test('a user who leaves a namespace no longer finds anything in it', async () => {
  await write('membership', 'private')
  const token = team.tokenOf('creator', 'elsewhere')
  for (const node of [app, other]) assert.match(await everything(node, token, 'q=membership'), 'agent-membership')
  await admin.send('DELETE', `/v1/namespaces/losers/members/${team.userOf('creator')}`)
  assert.not.match(await everything(app, token, 'q=membership'), 'agent-membership')
  await until(async () => !(await everything(other, token, 'q=membership')).includes('agent-membership'))
})

test.run()
