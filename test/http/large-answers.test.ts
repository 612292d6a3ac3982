import { once } from 'node:events'
import { type IncomingMessage, get } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import Fastify from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { installErrors } from '../../src/http/errors.ts'
import { installLargeAnswers } from '../../src/http/large-answers.ts'
import { until } from '../support/until.ts'

const test = suite('large answers')
/** More than the kernel takes for a reader that takes nothing. */
const SIZE = 32 * 1024 * 1024
const page = Buffer.alloc(SIZE, 'x')
const app = Fastify()
installErrors(app)
installLargeAnswers(app, 2 * SIZE)
app.get('/page', async (_request, reply) => reply.type('text/plain').send(page))
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as AddressInfo
test.after(async () => {
  app.server.closeAllConnections()
  await app.close()
})

const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))

/** Asks, and takes nothing of the answer. */
const stall = async () => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.pause().write('GET /page HTTP/1.1\r\nhost: localhost\r\n\r\n')
  return socket
}

const read = async () => {
  const asking = get(`http://127.0.0.1:${port}/page`, { agent: false })
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  return [answer.statusCode, (await buffer(answer)).length]
}

test('who reads gets all of it, one after another', async () => {
  for (let i = 0; i < 5; i++) assert.equal(await read(), [200, SIZE])
})

test('those that take nothing make room when others wait', async () => {
  const stalled = await Promise.all([stall(), stall()])
  await until(async () => (await connections()) >= 2)
  assert.equal(await read(), [200, SIZE])
  await until(async () => (await connections()) < 2)
  for (const socket of stalled) socket.destroy()
  await until(async () => (await connections()) === 0)
  assert.equal(await Promise.all([read(), read()]), [
    [200, SIZE],
    [200, SIZE],
  ])
})

test.run()
