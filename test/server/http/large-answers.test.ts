import { once } from 'node:events'
import { type IncomingMessage, get } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import Fastify from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { installErrors } from '../../../src/server/http/errors.ts'
import { installLargeAnswers } from '../../../src/server/http/large-answers.ts'
import { newNodePermits } from '../../../src/server/http/node-permits.ts'
import { newPermits } from '../../../src/base/permits.ts'
import { until } from '../../support/until.ts'

const test = suite('large answers')
/** More than the kernel takes for a reader that takes nothing. */
const SIZE = 32 * 1024 * 1024
const page = Buffer.alloc(SIZE, 'x')
const app = Fastify()
installErrors(app)
const permits = newNodePermits(0, { answers: newPermits({ capacity: 2 * SIZE, things: 'answers', minPace: 200_000 }) })
installLargeAnswers(app, permits)
app.get('/page', async (_request, reply) => reply.type('text/plain').send(page))
/** Answers of `/made` that are in memory, and the most bytes that ever were held for them. */
let [made, most] = [0, 0]
app.get('/made', async (_request, reply) => {
  await reply.reserveMemory(SIZE)
  made += 1
  most = Math.max(most, permits.answers.held())
  reply.raw.once('close', () => (made -= 1))
  return reply.type('text/plain').send(page)
})
/** Texts of all lengths, some longer than a piece, and with characters of one to four bytes. */
const texts = Array.from({ length: 400 }, (_, i) => `${i}: \u{e9}\u{20ac}\u{1f600}`.repeat((i * 37) % 900))
let text = texts
app.get('/texts', async (_request, reply) => reply.type('text/plain').sendTexts(text))
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as AddressInfo
test.after(async () => {
  app.server.closeAllConnections()
  await app.close()
  permits.close()
})

const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))

/** Asks, and takes nothing of the answer. */
const stall = async (path = '/page') => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.pause().write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  return socket
}

const ask = async (path: string) => {
  const asking = get(`http://127.0.0.1:${port}${path}`, { agent: false })
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  return answer
}

const read = async (path = '/page') => {
  const answer = await ask(path)
  return [answer.statusCode, (await buffer(answer)).length]
}

test('clients that read get the whole answer, one after another', async () => {
  for (let i = 0; i < 5; i++) assert.equal(await read(), [200, SIZE])
})

test('answers whose clients read nothing yield when others wait', async () => {
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

test('no more answers are made than there is memory for', async () => {
  const stalled = await Promise.all(Array.from({ length: 6 }, () => stall('/made')))
  await until(() => made === 2)
  assert.equal(await read('/made'), [200, SIZE])
  assert.is(most, 2 * SIZE)
  for (const socket of stalled) socket.destroy()
})

/** Takes an answer little by little, as long as it is told to. */
const trickle = async (isGoingOn: () => boolean) => {
  const socket = await stall()
  while (isGoingOn() && !socket.destroyed) {
    socket.read(4 * 1024)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return socket
}

test('answers whose clients read too slowly yield when others wait', async () => {
  let isGoingOn = true
  const trickling = [trickle(() => isGoingOn), trickle(() => isGoingOn)]
  await until(async () => (await connections()) >= 2)
  assert.equal(await read(), [200, SIZE])
  isGoingOn = false
  for (const socket of await Promise.all(trickling)) socket.destroy()
})

for (const [how, sent] of [
  ['in pieces', texts],
  ['whole where they are small', texts.slice(0, 9)],
  ['also where there are none', []],
] as const)
  test(`texts are sent ${how}`, async () => {
    text = [...sent]
    const answer = await ask('/texts')
    const expected = Buffer.from(sent.join(''))
    assert.is(answer.headers['content-length'], `${expected.length}`)
    assert.ok((await buffer(answer)).equals(expected))
  })

test('texts wait for memory like any large answer', async () => {
  text = Array.from({ length: SIZE / 1_000 }, () => 'x'.repeat(1_000))
  const stalled = await Promise.all([stall('/texts'), stall('/texts')])
  await until(async () => (await connections()) >= 2)
  assert.equal(await read('/texts'), [200, 33_554_000])
  await until(async () => (await connections()) < 2)
  for (const socket of stalled) socket.destroy()
})

test.run()
