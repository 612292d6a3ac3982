import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newWorld } from '../../support/world.ts'

const test = suite('http: bodies over the limit')
const MiB = 1024 * 1024

/** Sends a body in one piece or in many and gives the answer; fails where the connection breaks instead. */
const send = async (url: string, size: number, chunked: boolean) => {
  const headers = { 'content-type': 'application/json', ...(chunked ? {} : { 'content-length': String(size) }) }
  const outgoing = request(`${url}/v1/session`, { method: 'POST', headers, agent: false })
  const answered = once(outgoing, 'response')
  for (let left = size; left > 0; left -= MiB) outgoing.write(Buffer.alloc(Math.min(left, MiB), 'x'))
  outgoing.end()
  const [response] = (await answered) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

test('are answered with 413, however they are sent', async () => {
  const { node, close } = await newWorld()
  const url = await node.app.listen({ host: '127.0.0.1', port: 0 })
  for (const chunked of [false, true]) {
    for (let i = 0; i < 5; i++) {
      const { status, body } = await send(url, 17 * MiB, chunked)
      assert.is(status, 413)
      assert.is(JSON.parse(body).error.code, 'payload_too_large')
    }
  }
  await close()
})

test.run()
