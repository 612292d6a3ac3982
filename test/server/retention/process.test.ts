import pg from 'pg'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { InQuarantine, Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { newTransactor } from '../../../src/eventstore/engine/transact.ts'
import { LogUnavailable, WrongRevision } from '../../../src/eventstore/log/log.ts'
import { metadataOf } from '../../../src/eventstore/log/metadata.ts'
import { newExpiringTraces } from '../../../src/server/retention/expiring-traces.ts'
import { expire, type ExpireOptions, expireUnlessQuarantined } from '../../../src/server/retention/process.ts'
import { traces } from '../../../src/server/trace/decide.ts'
import { traceSource } from '../../../src/server/trace/source.ts'
import type { App } from '../../support/open-app.ts'
import { WITH_WORKER, type EmptyWorld, type Person, callerOf, newEmptyWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'

type Scene = EmptyWorld & { clock: { now: number }; pool: pg.Pool }

const DAY = 24 * 60 * 60_000
const test = suite<Scene>('retention')

test.before.each(async (scene) => {
  scene.clock = { now: Date.now() - 40 * DAY }
  Object.assign(scene, await newEmptyWorld({ env: WITH_WORKER }))
  scene.pool = new pg.Pool({ connectionString: scene.database.url, max: 1 })
})
test.after.each(async ({ close, pool }) => {
  await pool.end()
  await close()
})

/** A node without a worker, whose clock is the scene's. */
const openPast = ({ openNode, clock }: Scene) => openNode({ env: { ROLES: 'api,projector' }, now: () => clock.now })

/** A node at the present time. */
const openPresent = ({ openNode }: Scene, env: Record<string, string> = {}) => openNode({ env })

const write = async (node: App, { token }: Person, ...names: string[]) => {
  for (const name of names) await callerOf(node, token).send('PUT', `/v1/traces/${name}`, {})
}

const keep = (node: App, { token, namespaceSlug }: Person, retentionDays: number | null) =>
  callerOf(node, token).send('PATCH', `/v1/namespaces/${namespaceSlug}`, { retentionDays })

type Trace = { readonly id: string; readonly externalId: string }
const namesOf = async (node: App, { token }: Person) =>
  (await callerOf(node, token).send<{ traces: Trace[] }>('GET', '/v1/traces?limit=1000')).traces
    .map(({ externalId }) => externalId)
    .sort()
const idOf = async (node: App, { token }: Person, name: string) =>
  (await callerOf(node, token).send<{ trace: Trace }>('GET', `/v1/traces/${name}`)).trace.id

test('traces that have not changed for the set number of days are deleted by the service itself', async (scene) => {
  const past = await openPast(scene)
  const [ada, bob] = [await signIn(past, 'ada'), await signIn(past, 'bob')]
  await write(past, ada, 'old', 'renewed', 'continued')
  await write(past, bob, 'kept')
  const id = await idOf(past, ada, 'old')
  scene.clock.now = Date.now() - 10 * DAY
  await write(past, ada, 'young', 'renewed')
  await ada.send('PUT', '/v1/traces/continued/messages/m', { role: 'user' })
  await keep(past, ada, 30)
  const present = await openPresent(scene)
  await until(async () => !(await namesOf(present, ada)).includes('old'))
  assert.equal(await namesOf(present, ada), ['continued', 'renewed', 'young'])
  assert.equal(await namesOf(present, bob), ['kept'])
  const events = () => Array.fromAsync(present.service.log.read(`trace-${id}`))
  await until(async () => (await events()).length === 1)
  const [deletion] = await events()
  assert.is(deletion!.type, 'TraceDeleted')
  assert.is(metadataOf(deletion!).actor, undefined)
})

test('a retention that is switched on, or shortened, takes effect at once', async (scene) => {
  const past = await openPast(scene)
  const ada = await signIn(past)
  await write(past, ada, 'a', 'b')
  const present = await openPresent(scene)
  await keep(present, ada, 41)
  await keep(present, ada, 39)
  await until(async () => (await namesOf(present, ada)).length === 0)
})

test('many traces are deleted, whichever worker is stopped meanwhile', async (scene) => {
  const past = await openPast(scene)
  const ada = await signIn(past)
  const names = Array.from({ length: 90 }, (_, i) => `t${i}`)
  await Promise.all(names.map((name) => write(past, ada, name)))
  await keep(past, ada, 30)
  const left = async () => (await namesOf(past, ada)).length
  for (const goal of [80, 55]) {
    const worker = await openPresent(scene, { ROLES: 'api,worker' })
    await until(async () => (await left()) <= goal)
    await worker.close()
  }
  const before = await left()
  assert.ok(before > 0, 'the workers were stopped too late')
  await Promise.all([openPresent(scene, { ROLES: 'api,worker' }), openPresent(scene, { ROLES: 'api,worker' })])
  await until(async () => (await left()) === 0)
  await write(past, ada, 't1')
  assert.equal(await namesOf(past, ada), ['t1'])
})

test('a worker whose clock is wrong deletes nothing', async (scene) => {
  const past = await openPast(scene)
  const ada = await signIn(past)
  scene.clock.now = Date.now()
  await write(past, ada, 'today')
  await keep(past, ada, 1)
  let lines = ''
  const logger = pino({ level: 'warn' }, { write: (line: string) => void (lines += line) })
  await scene.openNode({ now: () => Date.now() + 3 * DAY, env: { ROLES: 'worker' }, logger })
  await until(() => lines.includes('retention deletes nothing while the clock is wrong'))
  assert.equal(await namesOf(past, ada), ['today'])
})

/** What the process does with one trace of a page that it has read, at the scene's clock. */
const optionsOf = ({ pool }: Scene, { service }: App, now: () => number = Date.now): ExpireOptions => {
  const { namespaces, traces, assertWritable } = service
  return { namespaces, traces, assertWritable, expiring: newExpiringTraces(pool), now }
}

test('a trace that changes between the query and the deletion stays', async (scene) => {
  const past = await openPast(scene)
  const ada = await signIn(past)
  await write(past, ada, 'renewed', 'gone', 'due')
  await keep(past, ada, 30)
  const ids = new Map<string, string>()
  for (const name of ['renewed', 'gone', 'due']) ids.set(name, await idOf(past, ada, name))
  scene.clock.now = Date.now()
  await write(past, ada, 'renewed')
  await ada.send('DELETE', '/v1/traces/gone')
  const options = optionsOf(scene, past, () => scene.clock.now)
  const outcomes = []
  for (const name of ['renewed', 'gone', 'due']) outcomes.push(await expire(options, ada.namespaceId, ids.get(name)!))
  assert.equal(outcomes.slice(0, 2), ['stays', 'stays'])
  assert.ok((outcomes[2] as { position: bigint }).position > 0n)
})

test('nothing is deleted once retention is switched off, or lengthened', async (scene) => {
  const past = await openPast(scene)
  const ada = await signIn(past)
  await write(past, ada, 't')
  await keep(past, ada, 30)
  const id = await idOf(past, ada, 't')
  const outcome = () => expire(optionsOf(scene, past), ada.namespaceId, id)
  await keep(past, ada, 41)
  assert.is(await outcome(), 'stays')
  await keep(past, ada, null)
  assert.is(await outcome(), 'off')
  assert.equal(await namesOf(past, ada), ['t'])
})

/** The traces of a node whose log holds the next append until `release`; then its answer may be lost. */
const heldAppend = ({ service: { log, codec, reads, visible } }: App, isLost = false) => {
  const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let answer: Promise<unknown> | undefined
  const append: typeof log.append = async (...request) => {
    sent.resolve()
    const stored = released.promise.then(() => log.append(...request))
    answer = stored.catch((error: unknown) => error)
    if (isLost) throw new LogUnavailable('unknown')
    return stored
  }
  const source = traceSource(reads, visible)
  const transactor = newTransactor({ kind: traces, source, log: { ...log, append }, codec, now: Date.now })
  return { traces: transactor, sent: sent.promise, release: () => (released.resolve(), answer) }
}

for (const isLost of [false, true])
  test(`a deletion ${isLost ? 'whose answer is lost' : 'that is on its way to the log'} is not stored after the retention was switched off`, async (scene) => {
    const past = await openPast(scene)
    const ada = await signIn(past)
    await write(past, ada, 't')
    await keep(past, ada, 30)
    const id = await idOf(past, ada, 't')
    const { traces, sent, release } = heldAppend(past, isLost)
    const expired = expire({ ...optionsOf(scene, past), traces }, ada.namespaceId, id).catch((error: Error) => error)
    await sent
    if (isLost) assert.instance(await expired, Unavailable)
    await keep(past, ada, null)
    assert.instance(await release(), WrongRevision)
    if (!isLost) assert.is(await expired, 'stays')
    assert.equal(await namesOf(past, ada), ['t'])
    assert.equal(await newExpiringTraces(scene.pool).of(ada.namespaceId), [])
  })

test('a retention that is switched off right after it was read deletes nothing', async (scene) => {
  const past = await openPast(scene)
  const ada = await signIn(past)
  await write(past, ada, 't')
  await keep(past, ada, 30)
  const id = await idOf(past, ada, 't')
  const options = optionsOf(scene, past)
  const read: typeof options.namespaces.read = async (...asked) => {
    const found = await options.namespaces.read(...asked)
    await keep(past, ada, null)
    return found
  }
  assert.is(await expire({ ...options, namespaces: { read } }, ada.namespaceId, id), 'stays')
  assert.equal(await namesOf(past, ada), ['t'])
})

test('a deletion that the new retention wants as well goes on, and moves no time before', async (scene) => {
  const past = await openPast(scene)
  const present = await openPresent(scene, { ROLES: 'api,projector' })
  const ada = await signIn(past)
  await write(past, ada, 't')
  await keep(past, ada, 30)
  const id = await idOf(past, ada, 't')
  const { traces, sent, release } = heldAppend(past)
  const expired = expire({ ...optionsOf(scene, past), traces }, ada.namespaceId, id)
  await sent
  await keep(present, ada, 20)
  await release()
  assert.ok(((await expired) as { position: bigint }).position > 0n)
  await until(async () => (await namesOf(past, ada)).length === 0)
})

test('a trace in quarantine is not deleted', async (scene) => {
  const past = await openPast(scene)
  const ada = await signIn(past)
  await write(past, ada, 't')
  await keep(past, ada, 30)
  const options = optionsOf(scene, past)
  const refuse = () => Promise.reject(new InQuarantine('trace'))
  const id = await idOf(past, ada, 't')
  assert.is(await expireUnlessQuarantined({ ...options, traces: { transact: refuse } }, ada.namespaceId, id), 'stays')
})

test.run()
