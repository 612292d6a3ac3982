import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { leavesIn } from '../../server/proof/support.ts'
import { type Filled, openFilled } from '../../server/proof/verify/support.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'
import { type Double, startDouble } from '../../support/eventstoredb/server.ts'
import { inTemporary, run } from '../support/user.ts'

type Scene = { filled: Filled; double: Double; target: Database }

const test = suite<Scene>('the audit tree of a log that `log copy` copies')
test.before.each(async (scene) => {
  scene.filled = await openFilled()
  scene.double = await startDouble()
  scene.target = await freshDatabase()
})
test.after.each(async ({ filled, double, target }) => {
  await filled.close()
  await double.stop()
  await target.drop()
})

const copy = ({ filled, double, target }: Scene) =>
  run(['log', 'copy', '--from', filled.database.url, '--to', double.url, '--target-database', target.url], {})

test('is copied too and can be verified at once, also after a second copy', (scene) =>
  inTemporary(async (folder) => {
    const { filled, double, target } = scene
    const here = {
      DATABASE_URL: target.url,
      EVENTSTORE_URL: double.url,
      TRACEBOOK_CONFIG_DIR: join(folder, 'config'),
    }
    const size = (await leavesIn(filled.database)).length
    for (let i = 0; i < 2; i++) {
      const { how, out, err } = await copy(scene)
      assert.is(how, 0, err)
      assert.match(out, `Copied ${size} leaves of the audit tree`)
      const verified = await run(['audit', 'verify'], here)
      assert.is(verified.how, 0, verified.out + verified.err)
      assert.match(verified.out, `${size} leaves`)
    }
    assert.ok((await leavesIn(target)).every(({ lost }) => lost === null))
    await onServer(target.url, `update tracebook.leaves set hash = sha256('x') where index = 7`)
    assert.is((await run(['audit', 'verify'], here)).how, 3)
  }))

test('is refused if it has leaves of events that were not copied', async (scene) => {
  const { url } = scene.filled.database
  await onServer(
    url,
    `insert into tracebook.leaves (index, event_id, position, stream, revision, hash)
     select index + 1, gen_random_uuid(), position + 1, stream, revision + 1, hash
     from tracebook.leaves order by index desc limit 1`,
  )
  await onServer(url, 'update tracebook.tree set size = size + 1')
  const { how, err } = await copy(scene)
  assert.is(how, 1)
  assert.match(err, 'was written to during the copy')
  assert.ok(
    (await leavesIn(scene.target)).every(({ lost }) => lost === null),
    'nothing is called lost',
  )
})

test.run()
