import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sharedWorld, signIn } from '../../../support/world.ts'
import { callTool } from '../support.ts'

const test = suite('mcp: the list of sessions')
const { node } = await sharedWorld()

test('has sessions, each with the number of its sub-agents that the caller may read', async () => {
  const [user, stranger] = [await signIn(node), await signIn(node)]
  const put = (id: string, body: object) => user.send('PUT', `/v1/traces/${id}`, { visibility: 'public', ...body })
  await put('session', {})
  await put('helper', { parentExternalId: 'session' })
  await put('private-helper', { parentExternalId: 'session', visibility: 'private' })
  await put('fork', { parentExternalId: 'session', parentKind: 'fork' })
  const listed = async (token: string) => {
    const args = { namespace: user.namespaceSlug }
    const { quotes } = (await callTool(node, token, 'list_sessions', args)).structuredContent as {
      quotes: { sessions: { session: string; subAgents?: number }[] }
    }
    return quotes.sessions.map(({ session, subAgents }) => [session, subAgents])
  }
  assert.equal(await listed(user.token), [
    ['fork', undefined],
    ['session', 2],
  ])
  assert.equal(await listed(stranger.token), [
    ['fork', undefined],
    ['session', 1],
  ])
})

test.run()
