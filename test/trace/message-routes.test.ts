import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../support/database.ts'
import { openApp } from '../support/open-app.ts'

const test = suite('trace/message-routes')

const database = await freshDatabase()
const clock = { now: Date.now }
const node = await openApp(database.url, { now: () => clock.now() })
test.after(async () => {
  await node.close()
  await database.drop()
})

const deviceId = randomUUID()
const newToken = async () => {
  const { data } = await node.call('POST', '/v1/session', { body: { deviceId } })
  return (data as { session: { token: string } }).session.token
}
const token = await newToken()

test('a message may stand twice in a batch, also when it ends as it is stored', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await node.call('PUT', url, { token, body: {} })
  const send = async (...texts: string[]) => {
    const messages = texts.map((textContent) => ({ externalId: 'm', role: 'user', textContent }))
    const { data } = await node.call('POST', `${url}/messages/batch`, { token, body: { messages } })
    return (data as { messages?: { result: string }[] }).messages?.map(({ result }) => result)
  }
  assert.equal(await send('a'), ['created'])
  node.service.traces.forget() // so that the message is known by its digest alone
  assert.equal(await send('b', 'a'), ['updated', 'updated'])
  node.service.traces.forget()
  assert.equal(await send('a', 'a'), ['unchanged', 'unchanged'])
  node.service.traces.forget()
  assert.equal(await send('a', 'b', 'b', 'a', 'a'), ['unchanged', 'updated', 'unchanged', 'updated', 'unchanged'])
})

test('a message is answered with the times that are recorded, also when a clock was ahead', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await node.call('PUT', url, { token, body: {} })
  const ahead = Date.now() + 366 * 24 * 60 * 60 * 1_000
  clock.now = () => ahead
  const { data } = await node.call('PATCH', url, { token: await newToken(), body: { title: 'Ahead' } })
  clock.now = Date.now
  type Times = { createdAt: number; updatedAt: number }
  assert.is((data as { trace: Times }).trace.updatedAt, ahead)
  for (const textContent of ['a', 'b']) {
    const put = await node.call('PUT', `${url}/messages/m`, { token, body: { role: 'user', textContent } })
    const { createdAt, updatedAt } = (put.data as { message: Times }).message
    assert.equal([createdAt, updatedAt], [ahead, ahead])
    const { data } = await node.call('GET', `${url}/messages`, { token })
    assert.equal((data as { messages: Times[] }).messages[0]!.updatedAt, updatedAt)
  }
})

test.run()
