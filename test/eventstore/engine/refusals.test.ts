import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('refusals while the read models are behind')

type Session = { token: string; userId: string; namespaceSlug: string }

test('are answered once the events that they depend on can be read', async () => {
  const database = await freshDatabase()
  const { service, call, unrepeated, close } = await openApp(database.url)
  const sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  const signIn = async (deviceId: string) =>
    ((await call('POST', '/v1/session', { body: { deviceId } })).data as { session: Session }).session
  const [{ token, namespaceSlug: slug }, guest] = [await signIn('admin'), await signIn('guest')]
  const { data } = await call('POST', `/v1/namespaces/${slug}/invites`, { token, body: {} })
  const { code } = (data as { invite: { code: string } }).invite
  await call('POST', `/v1/invites/${code}/accept`, { token: guest.token, body: {} })
  const place = `/v1/namespaces/${slug}/members/${guest.userId}`
  const demote = () => call('PATCH', place, { token, body: { role: 'member' } })
  assert.is((await demote()).status, 200)

  const head = await service.log.head()
  await sql.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schemaOf(mainGroup))]) // nothing is projected
  const removed = unrepeated(() => call('DELETE', place, { token }))
  await until(async () => (await typesSince(service.log, head)).length > 0)
  const refused = unrepeated(demote)
  const first = await Promise.race([removed.then(() => 'the removal'), refused.then(() => 'the refusal')])
  assert.is(first, 'the removal', 'which waits in vain')
  await sql.query('select pg_advisory_unlock_all()')
  await refused

  await until(async () => (await demote()).status === 404)
  const { members } = (await call('GET', `/v1/namespaces/${slug}/members`, { token })).data as { members: unknown[] }
  assert.is(members.length, 1)
  await sql.end()
  await close()
  await database.drop()
})

test.run()
