import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../support/database.ts'
import { openApp } from '../support/open-app.ts'

const test = suite('trace/decide-messages')

const database = await freshDatabase()
const node = await openApp(database.url)
test.after(async () => {
  await node.close()
  await database.drop()
})

const { data } = await node.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
const { token } = (data as { session: { token: string } }).session

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

test.run()
