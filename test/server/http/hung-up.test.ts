import { once } from 'node:events'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'

const test = suite('clients that close the connection')
const lines: { level: number; msg: string }[] = []
const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
const { node } = await openWorld(test, { logger })
const { app, call } = node
await app.listen({ port: 0, host: '127.0.0.1' })

const { token, namespaceSlug: slug } = await signIn(node, 'ada')
await call('PUT', '/v1/traces/long', { token, body: {} })
for (let i = 0; i < 3; i++)
  await call('POST', '/v1/traces/long/messages/batch', {
    token,
    body: { messages: [{ externalId: `m${i}`, role: 'user', textContent: 'x'.repeat(8_000_000) }] },
  })

const send = async (head: string, body = ''): Promise<Socket> => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`${head} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n${body}`)
  return socket
}

const json = 'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"role":'
const requests: Record<string, () => Promise<Socket>> = {
  'in the middle of a message': () => send('PUT /v1/traces/long/messages/m', json),
  'in the middle of a batch': () => send('POST /v1/traces/long/messages/batch', json),
  'in the middle of a picture': () =>
    send(`PUT /v1/namespaces/${slug}/avatar`, 'content-type: image/png\r\ncontent-length: 1000\r\n\r\nxyz'),
  'in the middle of another type': () =>
    send('PUT /v1/traces/long', 'content-type: text/plain\r\ncontent-length: 1000\r\n\r\nxyz'),
}

const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))

/** Once the service has noticed, and has done something else since. */
const assertQuiet = async () => {
  await until(async () => (await connections()) === 0)
  await call('PUT', '/v1/traces/other', { token, body: {} })
  const loud = lines.filter(({ level }) => level > 30)
  assert.equal(loud, [])
}

for (const [when, start] of Object.entries(requests)) {
  test(`a client that leaves ${when} is not logged as an error`, async () => {
    lines.length = 0
    const socket = await start()
    await until(async () => (await connections()) > 0)
    socket.resetAndDestroy()
    await assertQuiet()
  })
}

test('a client that stops reading a long list is not logged as an error', async () => {
  lines.length = 0
  const socket = await send('GET /v1/traces/long/messages', '\r\n')
  await once(socket, 'data')
  socket.resetAndDestroy()
  await assertQuiet()
})

test.run()
