import type { Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { bufferBytes, collectGarbage } from '../../support/held-objects.ts'

const test = suite('realtime: many clients')
const { node } = await openWorld(test, { env: { REALTIME_CONNECTIONS_ADDRESS: '2000' } })
const address = `${(await node.app.listen({ host: '127.0.0.1', port: 0 })).replace('http', 'ws')}/v1/realtime`
const author = await signIn(node)
const sockets: WebSocket[] = []
test.after.each(async () => {
  for (const socket of sockets.splice(0)) socket.terminate()
  await until(() => node.service.connections.counts().connections === 0)
})

const open = async (
  query: string,
  args: object,
  id = 's',
): Promise<{ socket: WebSocket; frames: () => number; last: () => string }> => {
  const socket = new WebSocket(address, { perMessageDeflate: false })
  sockets.push(socket)
  socket.on('error', () => {})
  let frames = 0
  let last = ''
  socket.on('message', (data: Buffer) => {
    frames += 1
    last = data.toString('latin1')
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  socket.send(JSON.stringify({ type: 'subscribe', id, query, args }))
  return { socket, frames: () => frames, last: () => last }
}

const put = (externalId: string, body: object) => author.send('PUT', `/v1/traces/${externalId}`, body)

test('1,000 clients all get a change, from one query', async () => {
  await put('popular', { title: 'before', visibility: 'public' })
  const clients: Awaited<ReturnType<typeof open>>[] = []
  while (clients.length < 1_000)
    clients.push(
      ...(await Promise.all(Array.from({ length: 50 }, () => open('traces:get', { externalId: 'popular' })))),
    )
  await until(() => clients.every(({ frames }) => frames() === 1))
  assert.equal(node.service.connections.counts(), { connections: 1_000, subscriptions: 1_000 })
  assert.is(node.service.live.counts().queries, 1)
  await put('popular', { title: 'after', visibility: 'public' })
  await until(() => clients.every(({ last }) => last().includes('"title":"after"')))
  assert.ok(clients.every(({ frames }) => frames() === 2))
})

const MB = 1024 * 1024
/** 60 frames of 5 MB would be 324 MB. */
const MOST = 250 * MB

/** Without garbage, because a busy machine collects it late. */
const heldBytes = () => {
  if (bufferBytes() >= MOST) collectGarbage()
  return bufferBytes()
}

/** Opens until there is a first value: on a busy machine a client may read so slowly that it is cut off, and comes back. */
const openAndHear = async (id: string): ReturnType<typeof open> => {
  for (;;) {
    const client = await open('traces:getMessages', { externalId: 'large' }, id)
    await until(() => client.frames() > 0 || client.socket.readyState === WebSocket.CLOSED)
    if (client.frames() > 0) return client
    sockets.splice(sockets.indexOf(client.socket), 1) // it holds what it has read of a frame
  }
}

test('clients that read nothing cost no memory, and others get the change all the same', async () => {
  await put('large', { visibility: 'public' })
  const textContent = 'x'.repeat(900_000)
  for (let i = 0; i < 6; i++) await author.send('PUT', `/v1/traces/large/messages/m${i}`, { role: 'user', textContent })
  // Each has an id of its own, and so a frame of its own: one that goes to all would be in memory once.
  const deaf = await Promise.all(Array.from({ length: 60 }, (_, i) => openAndHear(`s${i}`)))
  for (const { socket } of deaf) (socket as unknown as { _socket: Socket })._socket.pause()
  let listener = await openAndHear('s')
  let most = 0
  // What is too much ends the test: each sample would collect garbage, and leave no time for anything else.
  const sampling = setInterval(() => {
    most = Math.max(most, heldBytes())
    if (most >= MOST) clearInterval(sampling)
  }, 10)
  for (let round = 0; round < 6; round++) {
    const body = { role: 'user', textContent: `${round} ${textContent}` }
    await author.send('PUT', '/v1/traces/large/messages/m0', body)
    await until(async () => {
      if (most >= MOST) return true
      if (listener.socket.readyState === WebSocket.CLOSED) listener = await openAndHear('s')
      return listener.last().includes(`"textContent":"${round} `)
    })
  }
  clearInterval(sampling)
  assert.ok(most < MOST, `${Math.round(most / MB)} MB`)
})

test.run()
