import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConnections } from '../../../src/commands/doctor/read-server.ts'
import { readServerIncarnation } from '../../../src/eventstore/engine/caught-up.ts'
import { newClient, withConnection } from '../../../src/eventstore/postgres/connect.ts'
import { eventStoreUrlOf } from '../../support/log-place.ts'
import { newToken } from '../../../src/server/session/tokens.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { startReplicatedServer } from '../../support/replicated-server.ts'
import { until } from '../../support/until.ts'
import { type Person, callerOf, signIn } from '../../support/world.ts'
import { connect } from '../realtime/support.ts'

const test = suite('a node that reads a standby')

const server = await startReplicatedServer()
const { url, readUrl } = await server.newDatabase('service')
const primary = await openApp(url)
const openReader = (env: Record<string, string> = {}, ready = true) =>
  openApp(url, { env: { ROLES: 'api', DATABASE_URL: url, DATABASE_READ_URL: readUrl, ...env }, ready })
const reader = await openReader()
/** Whether the log is in this PostgreSQL, and not in an EventStoreDB. */
const holdsLog = eventStoreUrlOf(url) === undefined
const ada = await signIn(primary)
test.after(async () => {
  await reader.close()
  await primary.close()
  await server.stop()
})

/** Ada at a node. */
const at = (node: App): Person => ({ ...ada, ...callerOf(node, ada.token) })

const say = (node: App, trace: string, externalId: string) =>
  at(node).send('POST', `/v1/traces/${trace}/messages/batch`, { messages: [{ externalId, role: 'user' }] })

const namesAt = async (node: App, trace: string): Promise<string[]> => {
  const url = `/v1/traces/${trace}/messages?limit=200`
  const { messages } = await at(node).send<{ messages: { externalId: string }[] }>('GET', url)
  return messages.map(({ externalId }) => externalId)
}

const countAt = async (node: App, trace: string): Promise<number> => {
  const { trace: found } = await at(node).send<{ trace: { messageCount: number } }>('GET', `/v1/traces/${trace}`)
  return found.messageCount
}

/** Resolves once a node says that it is not ready for this reason, and answers no read. */
const untilNotReady = async (node: App, reason: RegExp) => {
  await until(async () => (await node.service.readiness()).missing.some((problem) => reason.test(problem)))
  const { status } = await node.unrepeated(() => at(node).ask('GET', '/v1/session'))
  assert.is(status, 503)
  const health = await node.app.inject('/health/ready')
  assert.is(health.statusCode, 503)
  assert.match(health.body, reason)
}

const untilReady = (node: App) => until(async () => (await node.service.readiness()).missing.length === 0)

test('no read goes behind an answered write of its node, while others write there and on the primary', async () => {
  const ROUNDS = 40
  await at(reader).send('PUT', '/v1/traces/both', {})
  const write = async (node: App, name: string) => {
    for (let i = 0; i < ROUNDS; i++) {
      await say(node, 'both', `${name} ${i}`)
      assert.ok((await namesAt(node, 'both')).includes(`${name} ${i}`), `${name} ${i}`)
    }
  }
  await Promise.all([write(reader, 'one'), write(reader, 'other'), write(primary, 'third')])
  await until(async () => (await countAt(reader, 'both')) === 3 * ROUNDS)
})

test('a token that another node has just issued is known, and one that nobody has issued is not', async () => {
  for (let i = 0; i < 5; i++) {
    const { token } = await signIn(primary)
    assert.is((await callerOf(reader, token).ask('GET', '/v1/session')).status, 200)
  }
  assert.is((await callerOf(reader, newToken()).ask('GET', '/v1/session')).status, 401)
})

test('a client of its socket is shown what was written on either node, and nothing more once its session has ended', async () => {
  const { token, send } = await signIn(primary)
  const client = await connect(await reader.app.listen({ host: '127.0.0.1', port: 0 }))
  const titles = () => client.values('s').map((value) => (value as { title?: string } | null)?.title)
  const isShown = (title: string | undefined) => until(() => titles().length > 0 && titles().at(-1) === title)
  await send('PUT', '/v1/traces/shown', { title: 'A' })
  client.subscribe('s', 'traces:get', { externalId: 'shown', authToken: token })
  await isShown('A')
  await callerOf(reader, token).send('PUT', '/v1/traces/shown', { title: 'B' })
  await isShown('B')
  await send('PUT', '/v1/traces/shown', { title: 'C' })
  await isShown('C')
  await send('DELETE', '/v1/session')
  await isShown(undefined)
  client.end()
})

test('a standby that stops applying is not read once it is 5 s behind, and again when it goes on', async () => {
  await ada.send('PUT', '/v1/traces/paused', {})
  await until(async () => (await at(reader).ask('GET', '/v1/traces/paused')).status === 200)
  await server.pause()
  await say(primary, 'paused', 'one')
  await untilNotReady(reader, /more than 5 s behind the primary/)
  await server.resume()
  await untilReady(reader)
  assert.is(await countAt(reader, 'paused'), 1)
})

test('a standby that was killed is read again when it is back, and shows no less than before', async () => {
  await at(reader).send('PUT', '/v1/traces/killed', {})
  await say(reader, 'killed', 'one')
  await server.kill()
  await untilNotReady(reader, /cannot be reached/)
  await say(primary, 'killed', 'two')
  await server.restart()
  await untilReady(reader)
  assert.is(await countAt(reader, 'killed'), 2)
  await say(reader, 'killed', 'three')
  assert.is(await countAt(reader, 'killed'), 3)
})

test('a write waits for a synchronous standby, and no longer for one that the primary does not name any more', async () => {
  await server.waitFor('*')
  await ada.send('PUT', '/v1/traces/synchronous', {})
  await server.kill()
  const { status } = await primary.unrepeated(() => at(primary).ask('PUT', '/v1/traces/alone', {}))
  assert.is(status, holdsLog ? 503 : 200)
  await server.waitFor('')
  await ada.send('PUT', '/v1/traces/alone', {})
  await server.restart()
  await untilReady(reader)
  assert.is(await countAt(reader, 'alone'), 0)
})

/** It was promoted; or, seen first, it shows events that were written there: into a log of its own, if the log is in PostgreSQL. */
const UNREAD = /was promoted since|events that the log does not hold/

test('a standby that was promoted is not read, nor as a standby again with what was written there, and a new one in its place is', async () => {
  await server.promote()
  await untilNotReady(reader, /is no standby/)
  const other = await openApp(readUrl)
  await at(other).send('PUT', '/v1/traces/elsewhere', {})
  await other.close()
  await server.demote()
  await untilNotReady(reader, UNREAD)
  const late = await openReader({}, false)
  assert.is((await late.unrepeated(() => at(late).ask('GET', '/v1/traces/elsewhere'))).status, 503)
  await untilNotReady(late, UNREAD)
  await ada.send('PUT', '/v1/traces/promoted', {})
  await server.replace()
  for (const node of [reader, late]) {
    await untilReady(node)
    assert.is(await countAt(node, 'promoted'), 0)
  }
  await late.close()
})

test('doctor counts a node that reads a standby as one process', () =>
  withConnection(newClient(url, 'test'), async (client) => {
    const { processes } = await readConnections(client, 30)
    assert.is(processes, 2)
  }))

test('a server of another system is not read', async () => {
  const stranger = await openReader({ DATABASE_READ_URL: process.env['TEST_POSTGRES_URL']! }, false)
  await untilNotReady(stranger, /another system/)
  await stranger.close()
})

test('a standby that recovers from the crash of one of its processes counts as another server', async () => {
  const incarnation = () => withConnection(newClient(readUrl, 'test'), readServerIncarnation)
  const before = await incarnation()
  assert.is(await incarnation(), before)
  await withConnection(newClient(readUrl, 'test'), async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    process.kill(rows[0]!.pid, 'SIGKILL')
  })
  await until(async () => ![undefined, before].includes(await incarnation().catch(() => undefined)))
  await untilReady(reader)
})

test('while the primary is away, nobody knows how far the standby is behind, and nothing is read from it after 5 s', async () => {
  await server.stopPrimary()
  await untilNotReady(reader, /how far the standby of DATABASE_READ_URL is behind is not known/)
})

test.run()
