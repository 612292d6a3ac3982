import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, databaseUrl, dropDatabase, freshDatabase, onServer } from '../../support/database.ts'
import { newProxy } from '../log/support/proxy.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'

delete process.env.TEST_LOG_URL // here the log is always in PostgreSQL

/** A failover to an older copy, after which the server before goes on as if nothing had happened. */
const test = suite('engine: a log whose previous server still runs')

/** A copy of a database that nobody uses, with a name as long. */
const copyOf = async ({ url }: Database): Promise<Database> => {
  const [server, name] = [process.env.TEST_POSTGRES_URL!, new URL(url).pathname.slice(1)]
  const copy = name.slice(0, -12) + randomBytes(6).toString('hex')
  await onServer(server, `create database "${copy}" template "${name}" strategy file_copy`)
  return { url: databaseUrl(server, copy), drop: () => dropDatabase(server, copy) }
}

const messagesIn = async (app: App, token: string): Promise<string[]> => {
  const { status, data } = await app.call('GET', '/v1/traces/t/messages', { token })
  assert.is(status, 200)
  return (data as { messages: { externalId: string }[] }).messages.map(({ externalId }) => externalId)
}

test('a node whose connections to the previous server stay open does not use them any more', async () => {
  const before = await freshDatabase()
  const proxy = await newProxy(before.url)
  let [app, after, direct]: [App | undefined, Database | undefined, App | undefined] = [undefined, undefined, undefined]
  try {
    app = await openApp(proxy.url)
    const { data } = await app.call('POST', '/v1/session', { body: { deviceId: 'split' } })
    const { token } = (data as { session: { token: string } }).session
    const put = (path: string) =>
      app!.call('PUT', `/v1/traces/t${path}`, { token, body: (path && { role: 'user' }) || {} })
    for (const path of ['', '/messages/kept']) assert.is((await put(path)).status, 200)
    await app.close()
    after = await copyOf(before)
    app = await openApp(proxy.url)
    assert.is((await put('/messages/lost')).status, 200)
    await Promise.all(Array.from({ length: 12 }, () => messagesIn(app!, token))) // opens connections

    proxy.redirect(after.url)
    const identity = await app.service.log.identity()
    proxy.cutSome((name) => name === 'tracebook log')
    const epochNow = () => app!.service.log.identity().catch(() => identity)
    await until(async () => (await epochNow()).epoch !== identity.epoch)
    await until(async () => (await put('/messages/new')).status === 200)
    for (const names of await Promise.all(Array.from({ length: 24 }, () => messagesIn(app!, token))))
      assert.equal(names, ['kept', 'new'])
    direct = await openApp(after.url)
    assert.equal(await messagesIn(direct, token), ['kept', 'new'], 'what was acknowledged is where the log is')
  } finally {
    for (const each of [app, direct]) await each?.close()
    await proxy.close()
    for (const each of [before, after]) await each?.drop()
  }
})

test.run()
