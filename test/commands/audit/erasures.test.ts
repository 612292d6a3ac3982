import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { onServer } from '../../support/database.ts'
import { logEnvironment } from '../../support/log-place.ts'
import type { App } from '../../support/open-app.ts'
import { WITH_WORKER, type EmptyWorld, type Person, newEmptyWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { run } from '../support/user.ts'

const DAY = 24 * 60 * 60_000
const schema = schemaOf(mainGroup)

type Scene = EmptyWorld
const test = suite<Scene>('tracebook audit erasures')

test.before.each(async (scene) => {
  Object.assign(scene, await newEmptyWorld({ env: { ...WITH_WORKER, SUMMARY_PROVIDER: 'none' } }))
})
test.after.each(({ close }) => close())

const withApp = async (
  { openNode }: Scene,
  roles: string,
  work: (app: App, ada: Person) => Promise<unknown>,
  now = Date.now,
) => {
  const app = await openNode({ env: { ROLES: roles }, now })
  try {
    await work(app, await signIn(app, 'device'))
  } finally {
    await app.close()
  }
}

const audit = ({ database: { url } }: Scene, ...words: string[]) =>
  run(['audit', 'erasures', ...words], { DATABASE_URL: url, ...logEnvironment(url) })

const listed = async (scene: Scene, ...words: string[]) => {
  const { how, out, err } = await audit(scene, '--json', ...words)
  assert.equal([how, err], [0, ''])
  return out.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore
}

const put = async ({ newTrace, send }: Person, name: string) => {
  const { url } = await newTrace({}, [], name)
  await send('PUT', `${url}/messages/m`, { role: 'user', textContent: 'secret' })
}
const remove = ({ send }: Person, name: string) => send('DELETE', `/v1/traces/${name}`)

const untilErased = ({ database }: Scene) =>
  until(async () => (await onServer(database.url, 'select from tracebook.erasures')).rows.length === 0)

test('says who deleted what, when, and whether it is erased yet', async (scene) => {
  assert.equal(await audit(scene), { how: 0, out: 'No trace was deleted.\n', err: '' })
  const name = 'red \u001b[31m'
  let ada!: Person
  await withApp(scene, 'api,projector', async (app, session) => {
    ada = session
    await app.call('PATCH', '/v1/user', { token: ada.token, body: { displayName: 'Ada \u001b[2J' } })
    await put(ada, name)
    await put(ada, 'stays')
    await remove(ada, encodeURIComponent(name))
  })
  const [deleted, ...others] = await listed(scene)
  assert.equal(others, [])
  const { trace, createdAt, deletedAt, ...rest } = deleted as { trace: { externalId: string } } & Record<string, number>
  assert.is(trace.externalId, name)
  assert.ok(createdAt! <= deletedAt! && deletedAt! <= Date.now())
  assert.equal(rest, {
    namespace: { id: ada.namespaceId, slug: ada.namespaceSlug },
    deletedBy: ada.userId,
    displayName: 'Ada \u001b[2J',
    messageCount: 1,
    state: 'pending',
    reason: 'no worker has read this deletion yet',
    attempts: 0,
  })
  const { out } = await audit(scene, '--pending')
  assert.match(out, /pending +1 {2}Ada \\u001b\[2J/)
  assert.not.match(out, '\u001b')

  await withApp(scene, 'api,projector,worker', () => untilErased(scene))
  assert.is((await listed(scene))[0]!.state, 'done')
  assert.equal(await listed(scene, '--pending'), [])
  assert.is((await audit(scene, '--pending')).out, 'No erasure is pending.\n')
})

test('says why a deletion cannot be erased', async (scene) => {
  const holder = new pg.Client({ connectionString: scene.database.url })
  await holder.connect()
  try {
    await withApp(scene, 'api,projector,worker', async (app, ada) => {
      await put(ada, 't')
      await holder.query(`begin; select from ${schema}.messages for update`)
      await remove(ada, 't')
      await until(async () => Number((await listed(scene))[0]!.attempts) > 0)
      const [{ state, reason }] = (await listed(scene)) as [Record<string, unknown>]
      assert.equal([state, reason], ['pending', 'PostgreSQL refused the erasure with error 55P03'])
      assert.match(
        (await audit(scene)).out,
        /not erased yet: PostgreSQL refused the erasure with error 55P03 \(failed attempts: \d+\)/,
      )
      await holder.query('rollback')
      await untilErased(scene)
    })
  } finally {
    await holder.end()
  }
})

test('tells of each deletion of a trace once, and of those of retention as the system’s', async (scene) => {
  const past = () => Date.now() - 40 * DAY
  await withApp(
    scene,
    'api,projector',
    async (app, ada) => {
      for (const _ of [1, 2]) {
        await put(ada, 'again')
        await remove(ada, 'again')
      }
      await put(ada, 'old')
      const body = { retentionDays: 30 }
      await app.call('PATCH', `/v1/namespaces/${ada.namespaceSlug}`, { token: ada.token, body })
      const told = (await listed(scene)).map(({ deletedBy, messageCount, state }) => [deletedBy, messageCount, state])
      assert.equal(told, [
        [ada.userId, 1, 'pending'],
        [ada.userId, 1, 'pending'],
      ])
    },
    past,
  )
  await withApp(scene, 'api,projector,worker', async (app, ada) => {
    await until(async () => (await app.call('GET', '/v1/traces/old', { token: ada.token })).status === 404)
    await untilErased(scene)
    const told = (await listed(scene)).map(({ trace, deletedBy, messageCount, state }) => [
      (trace as { externalId: string }).externalId,
      ...[deletedBy, messageCount, state],
    ])
    assert.equal(told, [
      ['again', ada.userId, undefined, 'done'],
      ['again', ada.userId, 1, 'done'],
      ['old', 'system', 1, 'done'],
    ])
    assert.match((await audit(scene)).out, /done {6}.*  system  .*old/)
  })
})

test('wrong words, and a database that cannot be reached, have exit codes', async (scene) => {
  assert.is((await audit(scene, '--no-such')).how, 2)
  const { how, err } = await run(['audit', 'erasures'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  assert.is(how, 1)
  assert.match(err, 'tracebook: ')
})

test.run()
