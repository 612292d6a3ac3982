import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openLoopbackReceiver } from '../../../src/client/login/loopback-receiver.ts'

const test = suite('the port that waits for the browser')
const loopback = (await openLoopbackReceiver())!
const { port } = new URL(loopback.url)
test.after(() => loopback.close())

/** The status line of what a request line gets. */
const statusOf = async (requestLine: string): Promise<string> => {
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`${requestLine}\r\nhost: 127.0.0.1\r\n\r\n`)
  const answer = await text(socket)
  return answer.slice(0, answer.indexOf('\r\n'))
}

test('the port answers any request line, and waits for the code after each', async () => {
  const code = loopback.waitForCode('s')
  for (const target of [
    '//[',
    'http://[',
    '//',
    '*',
    '/%',
    '/?state=s%',
    '//[::1',
    'http://a:b:c/',
    '/?'.padEnd(9_000, 'x'),
  ])
    assert.is(await statusOf(`GET ${target} HTTP/1.1`), 'HTTP/1.1 404 Not Found', target)
  for (const line of ['OPTIONS * HTTP/1.1', 'CONNECT [:1 HTTP/1.1', 'CONNECT a:1 HTTP/1.1'])
    assert.match(await statusOf(line), /^HTTP\/1\.1 40[04] /, line)
  for (const line of ['GET', '\0', 'GET / HTTP/9.9']) assert.match(await statusOf(line), /^HTTP\/1\.1 4\d\d /, line)
  assert.is(await statusOf('GET /?state=s&exchangeCode=abc HTTP/1.1'), 'HTTP/1.1 200 OK')
  assert.is(await code, 'abc')
})

test.run()
