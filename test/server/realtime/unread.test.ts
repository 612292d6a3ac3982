import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { collectGarbage } from '../../support/held-objects.ts'
import { listen } from '../../support/slow-reader.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'

const test = suite('realtime: large values that nobody reads')
const MB = 1024 * 1024
const CLIENTS = 60
const sockets: Socket[] = []
test.after(async () => {
  for (const socket of sockets) socket.destroy()
})
const { node } = await openWorld(test)
const port = await listen(node)
await (
  await signIn(node)
).newTrace(
  { visibility: 'public' },
  Array.from({ length: 6 }, (_, i) => ({ externalId: `m${i}`, role: 'user', textContent: 'x'.repeat(900_000) })),
  'large',
)

const query = JSON.stringify({ query: 'traces:getMessages', args: { externalId: 'large' } })
const head = 'host: localhost\r\ncontent-type: application/json\r\n'
const requests = [
  `POST /v1/query HTTP/1.1\r\n${head}content-length: ${query.length}\r\n\r\n${query}`,
  'GET /v1/traces/large/messages?changedSince=0 HTTP/1.1\r\nhost: localhost\r\n\r\n',
]

/** Asks, and reads nothing of the answer. */
const ask = async (request: string) => {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  socket.pause().write(request)
  return socket
}

/** What is in use. */
const used = () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('answers that nobody reads cost no memory, and others are answered', async () => {
  const before = used()
  let most = 0
  const all = requests.flatMap((request) => Array.from({ length: CLIENTS }, () => request))
  const deaf = await Promise.all(all.map(ask))
  const read = async () => {
    most = Math.max(most, used() - before)
    const answer = await fetch(`http://127.0.0.1:${port}/v1/traces/large/messages?changedSince=0`)
    return answer.ok && ((await answer.json()) as { data: { messages: object[] } }).data.messages.length === 6
  }
  await until(read)
  await until(() => deaf.every((socket) => socket.bytesRead > 0))
  await until(read)
  // 120 answers of 5 MB would be 650 MB.
  assert.ok(most < 160 * MB, `${Math.round(most / MB)} MB`)
})

test.run()
