import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { until } from '../../support/until.ts'
import { newWorld, signIn } from '../../support/world.ts'

const test = suite('readiness while read models are built')

/** A database whose log holds events, but that has no read models; and a connection to it. */
const withoutModels = async () => {
  const { database, node, openNode, close } = await newWorld({ readModels: false })
  await signIn(node)
  await node.close()
  const blocker = new pg.Client({ connectionString: database.url })
  await blocker.connect()
  await blocker.query(`drop schema ${schemaOf(mainGroup)} cascade`)
  return { database, openNode, close, blocker }
}

test('readiness gives the progress in percent', async () => {
  const { openNode, close, blocker } = await withoutModels()
  await blocker.query(`select pg_advisory_lock(hashtext('tracebook swap ${schemaOf(mainGroup)}'))`) // no batch is applied
  const node = await openNode({ env: { ROLES: 'api,projector' }, ready: false })
  try {
    let built: string | undefined
    while (built === undefined)
      built = (await node.service.readiness()).missing.find((reason) => reason.includes('being built'))
    assert.is(built, 'read models are being built: 0 %')
  } finally {
    await blocker.end()
    await close()
  }
})

test('a node without a runner reports the progress of others', async () => {
  const { database, openNode, close, blocker } = await withoutModels()
  const schema = schemaOf(mainGroup)
  const api = await openNode({ env: { ROLES: 'api' }, ready: false })
  const says = (where: 'missing' | 'degraded', text: RegExp) =>
    until(async () => (await api.service.readiness())[where].some((reason) => text.test(reason)))
  try {
    await says('missing', /^there are no read models yet: start a process with the role projector$/)
    await blocker.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schema)])
    await openNode({ env: { ROLES: 'projector' }, ready: false })
    await says('missing', /^read models are being built: 0 %$/)
    await blocker.query('select pg_advisory_unlock_all()')
    await until(async () => (await api.service.readiness()).missing.length === 0)

    await blocker.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schema)])
    const { log, codec } = api.service
    const rebuilding = rebuild({ url: database.url, group: mainGroup, log, codec })
    await says('degraded', /^read models are being rebuilt: (?:99|100) %$/) // others may write to the same server
    assert.equal((await api.service.readiness()).missing, [])
    await blocker.query('select pg_advisory_unlock_all()')
    await rebuilding
    assert.equal(await api.service.readiness(), { missing: [], degraded: [] })
  } finally {
    await blocker.end()
    await close()
  }
})

test.run()
