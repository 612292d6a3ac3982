import { once } from 'node:events'
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'

const test = suite('messages of a caller who may not write')
const database = await freshDatabase()
const { app, call, close } = await openApp(database.url)
const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
test.after(async () => {
  await close()
  await database.drop()
})

const signIn = async (deviceId: string) =>
  ((await call('POST', '/v1/session', { body: { deviceId } })).data as { session: { token: string } }).session.token
const [owner, stranger] = [await signIn('owner'), await signIn('stranger')]
await call('PUT', '/v1/traces/t', { token: owner, body: { visibility: 'public' } })

/** The answer to a request of which only the head is sent. */
const answerTo = async (line: string, token: string): Promise<string> => {
  const socket = connect(Number(port), '127.0.0.1')
  const head = [
    'host: localhost',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'content-length: 999999',
  ]
  socket.write(`${line} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return /^HTTP\/1.1 (\d+)/.exec(first.toString())![1]!
}

for (const [method, path] of [
  ['POST', 'messages/batch'],
  ['PUT', 'messages/m'],
] as const) {
  test(`${method} is refused before the body is read`, async () => {
    assert.is(await answerTo(`${method} /v1/traces/t/${path}`, stranger), '404')
    assert.is(await answerTo(`${method} /v1/traces/none/${path}`, owner), '404')
  })
}

test.run()
