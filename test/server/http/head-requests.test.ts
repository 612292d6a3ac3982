import { Agent, type IncomingMessage, request } from 'node:http'
import { once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callers, openTeam } from '../../access/team.ts'
import { until } from '../../support/until.ts'

const test = suite('http/head-requests')

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
test.after(() => agent.destroy())

const { app, team } = await openTeam(test)
const server = await app.app.listen({ host: '127.0.0.1', port: 0 })
const { creator } = team
for (const visibility of ['private', 'public']) {
  const message = { role: 'user', parts: [{ type: 'text', content: { text: 'some words '.repeat(20_000) } }] }
  await creator.newTrace({ visibility, title: 'A title' }, [{ externalId: 'm', ...message }], visibility)
}

const pages = [
  ...['/', '/?scope=public', '/help', '/settings', '/signin', '/@the-team', '/@nobody', '/nowhere'],
  ...['private', 'public'].flatMap((id) =>
    ['', '?m=m', '/-/changes', '/-/message/m', '/-/visibility', '/-/delete'].map((rest) => `/@the-team/${id}${rest}`),
  ),
]

/** Asks over one connection, so that a body behind headers that announce none would spoil the next answer. */
const ask = async (method: 'GET' | 'HEAD', path: string, token: string | undefined) => {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const asked = request(`${server}${path}`, { agent, method, headers: { accept: 'text/html', ...authorization } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  let bytes = 0
  for await (const chunk of answer) bytes += (chunk as Buffer).length
  const { date: _, 'x-request-id': __, 'transfer-encoding': ___, ...headers } = answer.headers
  return { status: answer.statusCode, headers, bytes }
}

for (const caller of callers)
  test(`${caller} gets the status and headers of each page, without the page`, async () => {
    const token = team.tokenOf(caller, 'here')
    for (const path of pages) {
      const [page, head] = [await ask('GET', path, token), await ask('HEAD', path, token)]
      assert.equal([head.status, head.headers], [page.status, page.headers], path)
      assert.ok(head.bytes === 0 && (page.bytes > 0 || page.status === 303), path)
    }
  })

test('a page that is made piece by piece leaves nothing behind, and the next reader gets all of it', async () => {
  const path = '/@the-team/public?view=talk'
  await ask('HEAD', path, undefined)
  await until(async () => {
    const { body } = await app.app.inject({ url: '/metrics' })
    return !/^tracebook_held\{kind="answers"\} [1-9]/m.test(body)
  })
  assert.ok((await ask('GET', path, undefined)).bytes > 10_000)
})

test('an address that uses up a one-time code refuses HEAD', async () => {
  const { statusCode, headers } = await app.app.inject({ method: 'HEAD', url: '/v1/auth/browser?code=x' })
  assert.equal([statusCode, headers.allow], [405, 'GET, POST, OPTIONS'])
})

test.run()
