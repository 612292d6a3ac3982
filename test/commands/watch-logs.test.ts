import { appendFileSync, cpSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startDouble } from '../support/eventstoredb/server.ts'
import { newFront } from '../../src/server/service/front.ts'
import { until } from '../support/until.ts'
import { newWorld } from '../support/world.ts'
import { ask, tokenIn } from './support/api.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { start } from './support/processes.ts'
import { type User, newUser } from './support/user.ts'

const test = suite('sync --watch, and a service whose log is another one')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')
const session = '5e550000-0000-4000-8000-000000000001'

const line = (uuid: string, text: string) =>
  `${JSON.stringify({
    type: 'user',
    uuid,
    sessionId: session,
    timestamp: '2026-01-02T10:00:00Z',
    message: { role: 'user', content: text },
  })}\n`

const fileOf = ({ claude }: User): string => globSync(join(claude, '**', `${session}.jsonl`))[0]!

const startWatch = (user: User) => {
  const { child, ended } = start(['sync', '--watch', '--json'], user.variables)
  const events: Record<string, unknown>[] = []
  createInterface({ input: child.stdout! }).on('line', (text) => {
    events.push(JSON.parse(text) as Record<string, unknown>)
  })
  const of = (type: string) => events.filter((event) => event['type'] === type)
  return { of, ended, end: () => child.kill('SIGTERM') }
}

/** How many messages the service has of the session; undefined where it has none of it. */
const storedBy = (url: string, user: User): Promise<number | undefined> =>
  ask<{ trace: { messageCount: number } }>(url, `/v1/traces/${session}`, { token: tokenIn(user.config) }).then(
    ({ trace }) => trace.messageCount,
    () => undefined,
  )

test('a service whose log has lost its end is filled again by the same watch', () =>
  inFolder(async (folder) => {
    const double = await startDouble()
    const front = newFront()
    const { node, close } = await newWorld({ env: { EVENTSTORE_URL: double.url, SUMMARY_PROVIDER: 'none' }, front })
    try {
      await front.listen({ HOST: '127.0.0.1', PORT: 0 })
      const url = `http://127.0.0.1:${front.port()}`
      const user = newUser(folder, url)
      cpSync(fixtures, user.claude, { recursive: true })
      assert.is((await user.run('login')).how, 0)
      const kept = double.store.all().length
      const watching = startWatch(user)
      await until(() => watching.of('watching').length === 1)
      assert.is(await storedBy(url, user), 4)
      const before = node.service.logId()

      await double.stop()
      await until(async () => (await node.service.readiness()).missing.length > 0)
      double.store.keepFirst(kept)
      await double.start()
      const isNew = () => ![before, undefined].includes(node.service.logId())
      await until(async () => isNew() && (await node.service.readiness()).missing.length === 0)
      assert.is(await storedBy(url, user), undefined)

      appendFileSync(fileOf(user), line('u-new', 'after the loss'))
      await until(() => watching.of('watching').length === 2)
      assert.is(await storedBy(url, user), 5)
      const sent = watching.of('session').map(({ externalId, new: added }) => `${String(externalId)} ${String(added)}`)
      assert.equal(sent.slice(2).sort(), [`${session} 5`, ...sent.filter((one) => one.startsWith('agent-')).slice(1)])
      assert.equal(watching.of('connection').filter(({ state }) => state === 'replaced').length, 1)
      watching.end()
      assert.is((await watching.ended).how, 0)
    } finally {
      await close()
      await double.stop()
    }
  }))

/** A service with a database of its own, in this process. */
const serveAt = async (port: number) => {
  const { node, close } = await newWorld({ env: { SUMMARY_PROVIDER: 'none' } })
  return { url: await node.app.listen({ host: '127.0.0.1', port }), end: close }
}

test('another service at the same address ends the watch, which a login there puts right', () =>
  inFolder(async (folder) => {
    const first = await serveAt(0)
    const user = newUser(folder, first.url)
    cpSync(fixtures, user.claude, { recursive: true })
    await user.run('login')
    const watching = startWatch(user)
    await until(() => watching.of('watching').length === 1)
    await first.end()
    const second = await serveAt(Number(new URL(first.url).port))
    appendFileSync(fileOf(user), line('u-new', 'to another service'))
    const { how } = await watching.ended
    assert.is(how, 2)
    assert.match(String(watching.of('error')[0]?.['message']), /session .*has ended. Log in again: /)
    assert.is(await storedBy(second.url, user), undefined)

    assert.is((await user.run('login')).how, 0)
    const again = startWatch(user)
    await until(() => again.of('watching').length === 1)
    assert.is(await storedBy(second.url, user), 5)
    again.end()
    assert.is((await again.ended).how, 0)
    await second.end()
  }))

test.run()
