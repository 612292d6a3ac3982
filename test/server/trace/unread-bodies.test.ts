import { once } from 'node:events'
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('messages of a caller who may not write')
const { node } = await openWorld(test)
const { app, service } = node
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = new URL(url)

type Member = { readonly user: { readonly id: string }; readonly invitedBy?: unknown }

const [owner, stranger] = [await signIn(node), await signIn(node)]
await owner.newTrace({ visibility: 'public' }, [], 't')

/** The answer to a request of which only the head is sent. */
const answerTo = async (line: string, token: string): Promise<string> => {
  const socket = connect(Number(port), '127.0.0.1')
  const head = [
    'host: localhost',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'content-length: 999999',
  ]
  socket.write(`${line} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return /^HTTP\/1.1 (\d+)/.exec(first.toString())![1]!
}

for (const [method, path] of [
  ['POST', 'messages/batch'],
  ['PUT', 'messages/m'],
] as const) {
  test(`${method} is refused before the body is read`, async () => {
    assert.is(await answerTo(`${method} /v1/traces/t/${path}`, stranger.token), '404')
    assert.is(await answerTo(`${method} /v1/traces/none/${path}`, owner.token), '404')
  })
}

/** Makes the stranger an admin beside the owner, in a namespace where neither is active. */
const foundTeam = async (slug: string) => {
  await owner.newTeam(slug)
  await owner.admit(slug, stranger, 'admin')
  await owner.send('PUT', `/v1/traces/t?namespace=${slug}`, {})
  return `/v1/namespaces/${slug}`
}

test('a trace that is not in memory is located once for a write: what was found before the body is used after it', async () => {
  await foundTeam('once')
  const { reads } = service
  const { rows } = reads
  const names: string[] = []
  reads.rows = ((name, ...rest) => (names.push(name), rows(name, ...rest))) as typeof rows
  const body = { role: 'user', textContent: 'hi' }
  const { status } = await stranger.ask('PUT', '/v1/traces/t/messages/m?namespace=once', body)
  reads.rows = rows
  assert.is(status, 200)
  assert.equal(
    names.filter((name) => name === 'trace-resolve'),
    ['trace-resolve'],
  )
})

test('who loses the right to write while the body arrives slowly does not write', async () => {
  const path = await foundTeam('slow')
  const body = '{"role":"user"}'
  const socket = connect(Number(port), '127.0.0.1')
  const head = [
    ...['host: localhost', `authorization: Bearer ${stranger.token}`, 'content-type: application/json'],
    `content-length: ${body.length}`,
  ]
  const begun = once(app.server, 'request')
  socket.write(`PUT /v1/traces/t/messages/m?namespace=slow HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  await begun
  const since = performance.now()
  while (performance.now() - since < 1_500) await fetch(`${url}/health`)
  const { members } = await owner.send<{ members: Member[] }>('GET', `${path}/members`)
  const admin = members.find(({ invitedBy }) => invitedBy)!
  await owner.send('DELETE', `${path}/members/${admin.user.id}`)
  socket.write(body.slice(5))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  assert.match(answer.toString(), /^HTTP\/1.1 404/)
})

test.run()
