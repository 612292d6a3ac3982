import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket, WebSocketServer } from 'ws'
import { newFlow } from '../../src/realtime/flow.ts'
import { newFrameSender } from '../../src/realtime/frame-sender.ts'
import { until } from '../support/until.ts'

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

test('a reader that takes little by little makes progress, and gets the whole frame', () =>
  connected(async ({ server, client }) => {
    const received = once(client, 'message') as Promise<[Buffer, boolean]>
    let resumed = 0
    const sender = newFrameSender(server, newFlow(), () => (resumed += 1))
    client.pause()
    let sent = 0
    assert.ok(sender.send(Buffer.from(`x${text}`), { onSent: () => (sent += 1) }))
    for (let i = 0; i < 5; i++) {
      const before = sender.progress()!
      while (sender.progress()!.takenBytes === before.takenBytes) await takeLittle(client)
      assert.ok(sender.progress()!.tookAt > before.tookAt)
    }
    assert.equal([sender.isSending(), sent, resumed], [true, 0, 0])
    client.resume()
    const [data, isBinary] = await received
    assert.ok(!isBinary && data.toString() === `x${text}`)
    await until(() => sent === 1 && resumed === 1)
    assert.equal([sender.isSending(), sender.progress()], [false, undefined])
  }))

test('a frame that may not be read any more is not sent to its end', () =>
  connected(async ({ server, client }) => {
    let [isAllowed, received] = [true, 0]
    client.on('message', () => (received += 1))
    const sender = newFrameSender(server, newFlow(), () => {})
    server.once('close', sender.end)
    client.pause()
    assert.ok(sender.send(Buffer.from(text), { mayGoOn: () => isAllowed }))
    isAllowed = false
    const closed = once(client, 'close')
    client.resume()
    await closed
    assert.equal([received, sender.isSending()], [0, false])
  }))

test('what a client that has gone was being sent leaves room for others', () =>
  connected(async ({ server, client }) => {
    const flow = newFlow(LARGE)
    const sender = newFrameSender(server, flow, () => {})
    server.once('close', sender.end)
    client.pause()
    assert.ok(sender.send(Buffer.from(text)))
    let resumed = 0
    assert.not(flow.take(Buffer.alloc(LARGE), () => (resumed += 1)))
    client.terminate()
    await until(() => resumed === 1)
    assert.not(sender.isSending())
  }))

test.run()
