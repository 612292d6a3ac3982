import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import fastify, { type FastifyReply } from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { installClosing } from '../../../src/server/http/closing.ts'
import { installErrors } from '../../../src/server/http/errors.ts'
import { notFound } from '../../../src/server/http/http-error.ts'
import { newWorld } from '../../support/world.ts'

const test = suite('http: a service that stops')

const post = (body: string) =>
  `POST /v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`

test('answers requests in flight, and refuses later ones with an error of the API', async () => {
  const { node, close } = await newWorld()
  const { app } = node
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const answers = text(socket)
  const body = JSON.stringify({ deviceId: 'device' })
  socket.write(post(body) + body.slice(0, 5))
  await once(app.server, 'request')
  const closed = close()
  while (app.server.listening) await setTimeout(1)
  socket.write(body.slice(5) + post(body) + body)
  const [first, second] = (await answers).split(/(?=HTTP\/1\.1 )/)
  assert.match(first!, /^HTTP\/1\.1 200 /)
  assert.match(second!, /^HTTP\/1\.1 503 /)
  assert.match(second!, /^retry-after: 1\r$/m)
  const { ok, error } = JSON.parse(second!.split('\r\n\r\n')[1]!)
  assert.is(ok, false)
  assert.is(error.code, 'unavailable')
  assert.equal(error.details, { stored: false })
  await closed
})

test('once the log has changed, a request in flight gets no answer from the state before', async () => {
  const over = new AbortController()
  const app = fastify()
  installErrors(app)
  installClosing(app, over.signal)
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: answer, resolve: give } = Promise.withResolvers<object>()
  const handler = async (_: unknown, reply: FastifyReply) => {
    begin()
    reply.header('set-cookie', 'token=before').header('etag', '"before"')
    return answer
  }
  for (const method of ['GET', 'PUT'] as const) app.route({ method, url: '/', handler })
  app.get('/missing', async () => {
    await answer
    throw notFound()
  })
  const asked = (['GET', 'PUT'] as const).map((method) => app.inject({ method, url: '/' }))
  const missing = app.inject('/missing')
  await begun
  over.abort()
  give({ state: 'before' })
  for (const { statusCode, headers, payload } of await Promise.all([...asked, missing])) {
    assert.is(statusCode, 503)
    assert.is(headers['retry-after'], '1')
    assert.not.match(payload + JSON.stringify(headers), /before/)
  }
  assert.equal((await asked[1]!).json().error.details, { stored: 'unknown' })
  assert.equal((await app.inject({ method: 'PUT', url: '/' })).json().error.details, { stored: false })
  await app.close()
})

test.run()
