import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket, WebSocketServer } from 'ws'
import { newFrameSender } from '../../../src/server/realtime/frame-sender.ts'
import { until } from '../../support/until.ts'

const test = suite('realtime: sending frames')
const LARGE = 8 * 1024 * 1024
/** Characters of two bytes, which fragments cut apart. */
const text = 'ä'.repeat(LARGE / 2 - 1)

/** Both ends of a connection over a Unix socket, whose buffers are small. */
const connected = async (work: (ends: { server: WebSocket; client: WebSocket }) => Promise<void>) => {
  const folder = await mkdtemp(join(tmpdir(), 'frames-'))
  const path = join(folder, 's')
  const http = createServer().listen(path)
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false })
  await once(http, 'listening')
  const client = new WebSocket(`ws+unix:${path}:/`, { perMessageDeflate: false })
  try {
    const [[server]] = (await Promise.all([once(sockets, 'connection'), once(client, 'open')])) as [
      [WebSocket],
      unknown,
    ]
    await work({ server, client })
  } finally {
    client.terminate()
    sockets.close()
    http.close()
    await rm(folder, { recursive: true })
  }
}

const takeLittle = async (client: WebSocket) => {
  client.resume()
  await immediate()
  client.pause()
}

/** A sender with its hooks, and what it was told. */
const newSender = (server: WebSocket) => {
  const told = { resumed: 0, taken: 0, turns: 0, ends: [] as boolean[] }
  const turn = () => void (told.turns += 1)
  const sender = newFrameSender(server, { turn: () => turn() as undefined, resume: () => (told.resumed += 1) })
  const hooks = {
    onTaken: (bytes: number) => (told.taken += bytes),
    onEnd: (isWhole: boolean) => told.ends.push(isWhole),
  }
  return { sender, hooks, told }
}

test('a slow reader counts as reading, and gets the whole frame', () =>
  connected(async ({ server, client }) => {
    const received = once(client, 'message') as Promise<[Buffer, boolean]>
    const { sender, hooks, told } = newSender(server)
    client.pause()
    sender.send([Buffer.from('x'), Buffer.from(text)], hooks)
    for (let i = 0; i < 5; i++) {
      const before = sender.taken()
      while (sender.taken() === before) await takeLittle(client)
    }
    assert.equal([sender.isSending(), told.ends, told.resumed], [true, [], 0])
    client.resume()
    const [data, isBinary] = await received
    assert.ok(!isBinary && data.toString() === `x${text}`)
    await until(() => told.resumed === 1)
    assert.equal([sender.isSending(), told.ends], [false, [true]])
    assert.equal([told.taken, sender.taken()], [data.length, data.length])
    assert.ok(told.turns > 100, 'each fragment waits for its turn')
  }))

test('a short frame of several parts is sent at once', () =>
  connected(async ({ server, client }) => {
    const received = once(client, 'message') as Promise<[Buffer]>
    const { sender, told } = newSender(server)
    sender.send([Buffer.from('{"a":'), Buffer.from('1}')])
    assert.is((await received)[0].toString(), '{"a":1}')
    await until(() => told.resumed === 1)
    assert.is(told.turns, 0)
  }))

test('a frame that may no longer be read is not sent to its end', () =>
  connected(async ({ server, client }) => {
    let [isAllowed, received] = [true, 0]
    client.on('message', () => (received += 1))
    const { sender, hooks, told } = newSender(server)
    server.once('close', sender.end)
    client.pause()
    sender.send([Buffer.from(text)], { ...hooks, mayGoOn: () => isAllowed })
    isAllowed = false
    const closed = once(client, 'close')
    client.resume()
    await closed
    await until(() => !sender.isSending())
    assert.equal([received, told.ends], [0, [false]])
  }))

test('the end of a frame is reported when the client has gone', () =>
  connected(async ({ server, client }) => {
    const { sender, hooks, told } = newSender(server)
    server.once('close', sender.end)
    client.pause()
    sender.send([Buffer.from(text)], hooks)
    client.terminate()
    await until(() => told.ends.length === 1)
    assert.equal([told.ends, told.resumed, sender.isSending()], [[false], 0, false])
  }))

test.run()
