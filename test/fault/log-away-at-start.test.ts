import type { ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Double, startDouble } from '../support/eventstoredb/server.ts'
import { howItEnded, launch } from './support/service.ts'
import { until } from '../support/until.ts'
import { WITH_WORKER, type World, newWorld, signIn } from '../support/world.ts'

type Scene = World & { double: Double; token: string; start: () => Promise<Started> }

/** A service that takes requests, ready or not. */
type Started = {
  readonly child: ChildProcess
  readonly output: () => string
  readonly ask: (method: string, path: string, body?: object) => Promise<{ status: number; text: string }>
}

const test = suite<Scene>('a service that starts while its log is away')
const children = new Set<ChildProcess>()

const started = async (databaseUrl: string, logUrl: string, token: string): Promise<Started> => {
  const child = launch(tmpdir(), { DATABASE_URL: databaseUrl, EVENTSTORE_URL: logUrl })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  let url = ''
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the service has ended: ${output}`)
    url = /Tracebook serves at (\S+)/.exec(output)?.[1] ?? ''
    return url !== ''
  })
  const ask: Started['ask'] = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) }
    const answer = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    return { status: answer.status, text: await answer.text() }
  }
  return { child, output: () => output, ask }
}

test.before.each(async (scene) => {
  const double = await startDouble()
  const world = await newWorld({ env: { ...WITH_WORKER, EVENTSTORE_URL: double.url } })
  const { token, newTrace } = await signIn(world.node)
  await newTrace({ visibility: 'public' }, [{ externalId: 'm', role: 'user', textContent: 'hello' }], 't')
  await world.node.close()
  const start = () => started(world.database.url, double.url, token)
  Object.assign(scene, { ...world, double, token, start })
})
test.after.each(async ({ double, close }) => {
  for (const child of children) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await howItEnded(child)
  }
  children.clear()
  await Promise.all([double.stop(), close()])
})

const assertReadable = async ({ ask }: Started) => {
  for (const path of ['session', 'feed', 'traces', 'traces/t', 'traces/t/messages?includeParts=true', 'models']) {
    const { status, text } = await ask('GET', `/v1/${path}`)
    assert.is(status, 200, `${path}: ${text}`)
  }
}

const assertRefused = async ({ ask }: Started, reason: RegExp) => {
  for (const [method, path, body] of [
    ['PUT', 'traces/refused', {}],
    ['POST', 'traces/t/messages/batch', { messages: [{ externalId: 'n', role: 'user' }] }],
    ['POST', 'session', { deviceId: 'another' }],
    ['PATCH', 'user', { displayName: 'refused' }],
  ] as const) {
    const { status, text } = await ask(method, `/v1/${path}`, body)
    assert.is(status, 503, `${path}: ${text}`)
    assert.is(JSON.parse(text).error.details.stored, false)
  }
  const { status, text } = await ask('GET', '/health/ready')
  assert.is(status, 503)
  assert.match(text, reason)
  assert.is((await ask('GET', '/health')).status, 200)
}

const isReady = async ({ ask }: Started) => (await ask('GET', '/health/ready')).status === 200

test('serves reads, refuses writes and says why, and goes on when the log is there', async ({ double, start }) => {
  await double.stop()
  const service = await start()
  await assertReadable(service)
  await assertRefused(service, /the log cannot be reached/)
  await assertReadable(service)
  await double.start()
  await until(() => isReady(service))
  assert.is((await service.ask('PUT', '/v1/traces/new', {})).status, 200)
  assert.is((await service.ask('GET', '/v1/traces/new')).status, 200)
  assert.is((await service.ask('GET', '/v1/traces/refused')).status, 404)
  service.child.kill('SIGTERM')
  assert.is(await howItEnded(service.child), 0)
})

test('goes on serving reads, and nothing else, when the log that comes is another one', async (scene) => {
  const { double, database, token } = scene
  const other = await startDouble()
  await other.stop()
  const service = await started(database.url, other.url, token)
  await assertReadable(service)
  await other.start()
  await until(async () => (await service.ask('GET', '/health/ready')).text.includes('belong to another log'))
  await assertRefused(service, /belong to another log .*Check EVENTSTORE_URL/)
  await assertReadable(service)
  assert.is(service.output().split('this is another log than before').length, 2, 'it is said once')
  assert.equal(
    other.store.all().filter(({ stream }) => stream.startsWith('tracebook.')),
    [],
  )
  service.child.kill('SIGTERM')
  assert.is(await howItEnded(service.child), 0)
  await other.stop()
  await double.stop()
})

test('does not start with another log that is there', async ({ database, token }) => {
  const other = await startDouble()
  const error = await started(database.url, other.url, token).catch((error: Error) => error)
  assert.match(String(error), /belong to another log .*Check EVENTSTORE_URL/)
  assert.equal(
    [...children].map(({ exitCode }) => exitCode),
    [1],
  )
  await other.stop()
})

test.run()
