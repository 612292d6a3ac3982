import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { until } from '../../support/until.ts'
import { typesSince } from '../../support/types-since.ts'
import { newWorld, signIn } from '../../support/world.ts'

const test = suite('refusals while the read models are behind')

test('are answered once the events that they depend on can be read', async () => {
  const { database, node, close } = await newWorld()
  const { service, unrepeated } = node
  const sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  const [{ namespaceSlug: slug, ask, send, admit }, guest] = [await signIn(node), await signIn(node)]
  await admit(slug, guest)
  const place = `/v1/namespaces/${slug}/members/${guest.userId}`
  const demote = () => ask('PATCH', place, { role: 'member' })
  assert.is((await demote()).status, 200)

  const head = await service.log.head()
  await sql.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schemaOf(mainGroup))]) // nothing is projected
  const removed = unrepeated(() => ask('DELETE', place))
  await until(async () => (await typesSince(service.log, head)).length > 0)
  const refused = unrepeated(demote)
  const first = await Promise.race([removed.then(() => 'the removal'), refused.then(() => 'the refusal')])
  assert.is(first, 'the removal', 'which waits in vain')
  await sql.query('select pg_advisory_unlock_all()')
  await refused

  await until(async () => (await demote()).status === 404)
  const { members } = await send<{ members: unknown[] }>('GET', `/v1/namespaces/${slug}/members`)
  assert.is(members.length, 1)
  await sql.end()
  await close()
})

test.run()
