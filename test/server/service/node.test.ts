import { Writable } from 'node:stream'
import { once } from 'node:events'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { openPostgresLog } from '../../../src/eventstore/log/postgres/postgres-log.ts'
import { REOPENING } from '../../../src/server/http/closing.ts'
import { newFront } from '../../../src/server/service/front.ts'
import { mainGroup } from '../../../projections/index.ts'
import { type Database, freshDatabase, withConnection } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { type Proxy, newProxy } from '../../eventstore/log/support/proxy.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'

type Scene = {
  readonly database: Database
  /** Between the node and its database. */
  readonly proxy: Proxy
  readonly node: App
  readonly url: string
  readonly token: string
  readonly lines: () => string
  /** Begins another epoch of the log, as `tracebook log restored` does. */
  readonly changeLog: () => Promise<void>
}

const inScene = async (store: string, work: (scene: Scene) => Promise<void>) => {
  const [database, double] = [await freshDatabase(), await startDouble()]
  const proxy = await newProxy(database.url)
  const [front, output] = [newFront(), [] as string[]]
  const logger = pino(
    { level: 'info' },
    new Writable({ write: (line, _, done) => (output.push(String(line)), done()) }),
  )
  const env = { EVENTSTORE_URL: store === 'PostgreSQL' ? '' : double.url, SUMMARY_PROVIDER: 'none' }
  const node = await openApp(proxy.url, { env, front, logger })
  const changeLog = async () => {
    const log = env.EVENTSTORE_URL ? openEventStoreLog({ url: double.url }) : openPostgresLog({ url: database.url })
    await log.renewEpoch((await log.identity()).epoch)
    await log.close()
  }
  try {
    await front.listen({ HOST: '127.0.0.1', PORT: 0 })
    const { data } = await node.call('POST', '/v1/session', { body: { deviceId: 'device' } })
    const { token } = (data as { session: { token: string } }).session
    const url = `http://127.0.0.1:${front.port()}`
    await work({ database, proxy, node, url, token, lines: () => output.join(''), changeLog })
  } finally {
    await node.close()
    await Promise.all([double.stop(), proxy.close()])
    await database.drop()
  }
}

type Answered = { readonly status: number; readonly headers: Headers; readonly text: string }

/** Like `ask`, with status 0 for a connection that was closed before the answer, as one that is idle may be. */
const tryToAsk = (...asked: Parameters<typeof ask>): Promise<Answered> =>
  ask(...asked).catch(() => ({ status: 0, headers: new Headers(), text: '' }))

const ask = async ({ url, token }: Scene, method: string, path: string, body?: object): Promise<Answered> => {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** A subscription to a trace over a WebSocket. */
const watchTrace = async ({ url, token }: Scene, trace: string) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`)
  const results: string[] = []
  socket.on('message', (data: Buffer) => results.push(data.toString()))
  const closed = once(socket, 'close').then(([code]) => code as number)
  await once(socket, 'open')
  socket.send(
    JSON.stringify({ type: 'subscribe', id: 's', query: 'traces:get', args: { externalId: trace, authToken: token } }),
  )
  await until(() => results.length > 0)
  return { results, closed, leave: () => socket.close() }
}

/** Takes the database away from the node at the moment at which it notices that its log is another one. */
const loseDatabase = ({ node, proxy }: Scene) =>
  node.service.over.addEventListener('abort', () => {
    proxy.set('refuse')
    proxy.cut()
  })

for (const store of ['PostgreSQL', 'EventStoreDB']) {
  const test = suite(`server/service/node: a node whose log in ${store} is another one`)
  const on = (name: string, work: (scene: Scene) => Promise<void>) => test(name, () => inScene(store, work))

  on('is opened again behind its socket: clients are told to come back, and find all as it is', async (scene) => {
    const { node, lines, changeLog } = scene
    assert.is((await ask(scene, 'PUT', '/v1/traces/t', { title: 'before' })).status, 200)
    const { service } = node
    const watched = await watchTrace(scene, 't')
    await changeLog()
    assert.is(await watched.closed, 1012)
    assert.not.ok(watched.results.some((text) => text.includes('error')))
    const seen: Answered[] = []
    await until(async () => seen[seen.push(await tryToAsk(scene, 'GET', '/v1/traces/t')) - 1]!.status === 200)
    assert.ok(
      seen.every(({ status, headers }) => [0, 200].includes(status) || (status === 503 && headers.has('retry-after'))),
    )
    assert.not.equal(node.service, service)
    assert.match(lines(), /"level":30[^\n]*the service is opened again/)

    await until(async () => (await tryToAsk(scene, 'PUT', '/v1/traces/t', { title: 'after' })).status === 200)
    const again = await watchTrace(scene, 't')
    assert.match(again.results[0]!, /"after"/)
    await ask(scene, 'PUT', '/v1/traces/t', { title: 'at last' })
    await until(() => again.results.some((text) => text.includes('"at last"')))
    again.leave()
    assert.is((await ask(scene, 'GET', '/health/ready')).status, 200)
    assert.not.equal(node.service.logId(), service.logId())
  })

  on('acknowledges no write that waits, and lets no client wait', async (scene) => {
    const { database, changeLog } = scene
    assert.is((await ask(scene, 'PUT', '/v1/traces/t', { title: 'before' })).status, 200)
    await withConnection(database.url, async (client) => {
      await client.query(`begin; lock table ${schemaOf(mainGroup)}.traces in share mode`)
      const writes = ['t', 'u'].map((trace) => tryToAsk(scene, 'PUT', `/v1/traces/${trace}`, { title: 'unseen' }))
      await until(async () => {
        const { rows } = await client.query(
          `select from pg_locks where not granted and relation = '${schemaOf(mainGroup)}.traces'::regclass`,
        )
        return rows.length > 0
      })
      await changeLog()
      for (const { status, text } of await Promise.all(writes)) {
        assert.is(status, 503)
        assert.match(text, /"stored":"unknown"/)
      }
      await client.query('rollback')
    })
    await until(async () => (await tryToAsk(scene, 'PUT', '/v1/traces/u', { title: 'seen' })).status === 200)
    assert.match((await ask(scene, 'GET', '/v1/traces/u')).text, /"seen"/)
  })

  on('goes on trying while its database is away, and says so', async (scene) => {
    const { proxy, changeLog, lines } = scene
    loseDatabase(scene)
    await changeLog()
    await until(async () => (await tryToAsk(scene, 'GET', '/health/ready')).text.includes('opened again'))
    await until(async () =>
      (await tryToAsk(scene, 'GET', '/health/ready')).text.includes('the database cannot be reached'),
    )
    assert.is((await ask(scene, 'GET', '/health')).status, 200)
    for (const [method, path] of [
      ['GET', '/v1/feed'],
      ['PUT', '/v1/traces/t'],
      ['GET', '/'],
      ['GET', '/v1/realtime'],
    ] as const) {
      const { status, headers, text } = await ask(scene, method, path)
      assert.is(status, 503, path)
      assert.is(headers.get('retry-after'), '1')
      assert.is((JSON.parse(text) as { error: { message: string } }).error.message, REOPENING)
    }
    proxy.set('pass')
    await until(async () => (await tryToAsk(scene, 'PUT', '/v1/traces/t', {})).status === 200)
    assert.is(lines().split('the service cannot be opened again yet').length, 2, 'it is logged once')
  })

  on('stops while it cannot be opened again', async (scene) => {
    const { proxy, changeLog, node } = scene
    loseDatabase(scene)
    await changeLog()
    await until(async () => (await tryToAsk(scene, 'GET', '/health/ready')).text.includes('opened again'))
    await node.close()
    assert.instance(await ask(scene, 'GET', '/health').catch((error: unknown) => error), Error)
    proxy.set('pass')
  })

  test.run()
}
