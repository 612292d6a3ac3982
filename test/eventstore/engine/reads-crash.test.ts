import { join } from 'node:path'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { readServerIncarnation } from '../../../src/eventstore/engine/caught-up.ts'
import { inFolder } from '../embedded/support.ts'
import { giveCluster } from '../../support/cluster.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'

const test = suite('engine: reads after a crash of PostgreSQL')

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

const signIn = async ({ call }: App): Promise<string> => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId: 'device' } })
  return (data as { session: { token: string } }).session.token
}

/** Kills a process of the server, so that all others are ended and it recovers. */
const crash = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
  process.kill(rows[0]!.pid, 'SIGKILL')
  await ended
}

const own = (work: (server: { url: string }) => Promise<void>) =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'server')
    await giveCluster(dataDir)
    const server = await startPostgres({ dataDir, log: quiet })
    try {
      await work(server)
    } finally {
      await server.stop('immediate')
    }
  })

const read = async ({ call }: App, token: string): Promise<number | undefined> => {
  const { status, data } = await call('GET', '/v1/traces/t', { token })
  return status === 200 ? (data as { trace: { messageCount: number } }).trace.messageCount : undefined
}

test('show no less than before, and go on without a runner', () =>
  own(async ({ url }) => {
    const whole = await openApp(url)
    const token = await signIn(whole)
    await whole.call('PUT', '/v1/traces/t', { token, body: {} })
    const node = await openApp(url, { env: { ROLES: 'api' } })
    let written = 0
    for (let round = 0; round < 2; round++) {
      const put = () =>
        whole.call('PUT', `/v1/traces/t/messages/m${written}`, { token, body: { role: 'user', textContent: 'x' } })
      await until(async () => (await put()).status === 200)
      written += 1
      await crash(url)
      for (const app of [node, whole]) {
        let seen: number | undefined
        await until(async () => (seen = await read(app, token)) !== undefined)
        assert.is(seen, written)
      }
    }
    await whole.close()
    const late = await node.unrepeated(() => node.call('PUT', '/v1/traces/late', { token, body: {} }))
    assert.is(late.status, 503)
    await crash(url)
    await until(async () => (await read(node, token)) !== undefined)
    await node.close()
  }))

test('the crash of one process of the server, which it survives, makes it count as another server', () =>
  own(async ({ url }) => {
    const incarnation = async () => {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {}) // the server may end the connection between two calls
      await client.connect()
      return readServerIncarnation(client).finally(() => client.end())
    }
    const first = await incarnation()
    assert.is(await incarnation(), first)
    await crash(url)
    // The old life may still answer for a moment.
    await until(async () => ![undefined, first].includes(await incarnation().catch(() => undefined)))
  }))

test.run()
