import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { feed } from '../../../projections/feed.ts'
import type { OpenGroup } from '../../../src/eventstore/engine/open-groups.ts'
import { startErasure } from '../../../src/server/erasure/process.ts'
import type { EventLog } from '../../../src/eventstore/log/log.ts'
import { type Database, onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { type Person, newWorld, signIn } from '../../support/world.ts'
import { eventsOf, nodeOf, notedIn, writeTrace } from './support.ts'
import { until } from '../../support/until.ts'
import { outage } from '../../support/silent.ts'

type Scene = { database: Database; app: App; owner: Person; main: OpenGroup; close: () => Promise<void> }

/** Erasure as the tests start it, beside a service that has none. */
const test = suite<Scene>('erasure: streams')
test.before.each(async (scene) => {
  const { database, node, close } = await newWorld({ env: { ROLES: 'api,projector' } })
  Object.assign(scene, { database, app: node, owner: await signIn(node), main: nodeOf(database, node), close })
})
test.after.each(async ({ main, close }) => {
  await main.close()
  await close()
})

const start = (
  { database, app, main }: Scene,
  given: { log?: EventLog; groups?: OpenGroup[]; said?: string[] } = {},
) => {
  const { log = app.service.log, groups = [main], said = [] } = given
  const note = (data: object, message: string) => void said.push(`${message} ${JSON.stringify(data)}`)
  const logger = { info: () => {}, error: note }
  return startErasure({
    url: database.url,
    log,
    codec: app.service.codec,
    groups,
    isCovered: async () => true,
    logger,
    outage,
  })
}

/** Writes and deletes a trace. */
const deleted = async ({ owner }: Scene, trace: string): Promise<string> => {
  const id = await writeTrace(owner, trace, 'secret')
  await owner.send('DELETE', `/v1/traces/${trace}`)
  return id
}

const isErased = async ({ app }: Scene, id: string) => `${await eventsOf(app, id)}` === 'TraceDeleted'

test('a stream that cannot be truncated delays no other, and is tried again', async (scene) => {
  const [bad, good, later] = [await deleted(scene, 'bad'), await deleted(scene, 'good'), 'later']
  const { log } = scene.app.service
  let broken = true
  const truncate: EventLog['truncate'] = async (stream, before) => {
    if (broken && stream === `trace-${bad}`) throw new Error('this stream cannot be truncated')
    await log.truncate(stream, before)
  }
  const said: string[] = []
  const erasure = start(scene, { log: { ...log, truncate }, said })
  try {
    await until(() => isErased(scene, good))
    const tried = async () => (await notedIn(scene.database))[0]!.attempts
    await until(async () => (await tried()) >= 2)
    const [noted, ...others] = await notedIn(scene.database)
    assert.is(noted!.stream, `trace-${bad}`)
    assert.is(noted!.reason, 'this stream cannot be truncated')
    assert.equal(others, [])
    const last = await deleted(scene, later)
    await until(() => isErased(scene, last))
    assert.is(said.length, 1, said.join('\n'))
    assert.not(await isErased(scene, bad))
    broken = false
    await until(() => isErased(scene, bad))
    await until(async () => (await notedIn(scene.database)).length === 0)
  } finally {
    await erasure.close()
  }
})

test('nothing is erased from the log before all groups of read models have applied its deletion', async (scene) => {
  const group = { name: 'second', version: 1, projections: [feed] }
  const behind = nodeOf(scene.database, scene.app, group)
  let asked = 0
  const passed: OpenGroup['watermark']['waitFor'] = (position, ms) => {
    asked += 1
    return behind.watermark.waitFor(position, ms)
  }
  const second: OpenGroup = { ...behind, watermark: { ...behind.watermark, waitFor: passed } }
  const erasure = start(scene, { groups: [scene.main, second] })
  const id = await deleted(scene, 't')
  await until(() => asked >= 3) // twice in vain
  assert.not(await isErased(scene, id))
  const runner = nodeOf(scene.database, scene.app, group, true)
  try {
    await until(() => isErased(scene, id))
  } finally {
    await erasure.close()
    await Promise.all([runner.close(), behind.close()])
  }
})

const readers = 'select position from tracebook.processes where name = $1'

test('a log that has lost events already read is followed from its beginning', async (scene) => {
  const { database, app, owner } = scene
  const first = start(scene)
  const one = await deleted(scene, 'one')
  await until(async () => (await isErased(scene, one)) && (await notedIn(database)).length === 0)
  await first.close()
  const gap = await deleted(scene, 'in the gap')
  const stays = await writeTrace(owner, 'stays', 'mine')
  const head = await app.service.log.head()
  await onServer(
    database.url,
    `update tracebook.processes set position = $1, event_position = $1, event_id = $2, epoch = $2 where name = 'erasure'`,
    [head, randomUUID()],
  )
  await onServer(database.url, `insert into tracebook.erasures values ($1, 1000, $2, 0, $3)`, [
    `trace-${stays}`,
    head,
    randomUUID(),
  ])
  const said: string[] = []
  const second = start(scene, { said })
  await until(() => isErased(scene, gap))
  await until(async () => (await notedIn(database)).length === 0)
  await second.close()
  assert.match(said.join(), 'the log has lost its end')
  assert.equal(await eventsOf(app, stays), ['TraceCreated', 'MessageAdded', 'MessagesCounted'])
  assert.ok(((await onServer(database.url, readers, ['erasure'])).rows[0]!.position as bigint) > 0n)
})

test('a deletion that the log does not hold erases nothing', async (scene) => {
  const { database, app, owner } = scene
  const id = await writeTrace(owner, 't', 'mine')
  const head = await app.service.log.head()
  const stream = `trace-${id}`
  await onServer(database.url, `insert into tracebook.erasures values ($1, 1000, $2, 0, $3)`, [
    stream,
    head,
    randomUUID(),
  ])
  const erasure = start(scene)
  await until(
    async () => (await notedIn(database))[0]?.reason === 'the log does not hold the deletion: it has lost its end',
  )
  await erasure.close()
  assert.equal(await eventsOf(app, id), ['TraceCreated', 'MessageAdded', 'MessagesCounted'])
})

test.run()
