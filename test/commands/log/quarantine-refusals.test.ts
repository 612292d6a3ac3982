import * as assert from 'uvu/assert'
import { dumpSchema } from '../../support/dump-schema.ts'
import { freshDatabase, onServer } from '../../support/database.ts'
import {
  addedSince,
  allow,
  append,
  call,
  eventsOf,
  headOf,
  listed,
  poison,
  positionOf,
  quarantineSuite,
  schema,
  sql,
  startAgain,
  streamOf,
  textsOf,
  tracebook,
} from '../support/quarantined.ts'
import { until } from '../../support/until.ts'

const test = quarantineSuite('tracebook log quarantine, replay and skip, where they cannot do what is asked')

test('change nothing and say why when they are used wrongly', async (scene) => {
  assert.is((await call(scene, 'PUT', 'fine', {})).status, 200)
  const { position: fine } = (await eventsOf(scene, streamOf(scene, 'fine')))[0]!
  const position = await positionOf(scene, await poison(scene, 'wrong'))
  const [head, rows] = [await headOf(scene), await dumpSchema(scene.database.url, schema)]
  const wrong: [words: string[], code: number, said: string][] = [
    [['replay', 'trace-unknown'], 2, 'trace-unknown is not in quarantine'],
    [['replay', streamOf(scene, 'fine')], 2, 'is not in quarantine'],
    [['skip', '--position', `${fine}`, '--why', 'x'], 2, `No event at position ${fine}`],
    [['skip', '--position', '0', '--why', 'x'], 2, 'It must be a whole number from 1 on'],
    [['skip', '--position', position], 2, '--why'],
    [['skip', '--position', position, '--why', ' '], 2, 'It must not be empty'],
  ]
  for (const [words, code, said] of wrong) {
    const { how, out, err } = await tracebook(scene, 'log', ...words)
    assert.equal([how, out], [code, ''], words.join(' '))
    assert.match(err, said)
  }
  assert.equal(await addedSince(scene, head), [])
  assert.equal(await dumpSchema(scene.database.url, schema), rows)
})

test('need no running service if the database runs', async (scene) => {
  const stream = await poison(scene, 'still')
  const exploded = streamOf(scene, 'still exploded')
  const other = `${await append(scene, exploded, 'Exploded', {})}`
  await until(async () => (await listed(scene)).some(({ position }) => position === other))
  await allow(scene, 'still')
  await scene.service.end('SIGTERM')
  assert.is((await tracebook(scene, 'log', 'quarantine')).how, 3)
  assert.is((await tracebook(scene, 'log', 'replay', stream)).how, 0)
  const skipped = await tracebook(scene, 'log', 'skip', '--position', other, '--why', 'a test')
  assert.is(skipped.how, 0)
  assert.match(skipped.out, 'as soon as a projector runs')
  await startAgain(scene)
  assert.equal(await textsOf(scene, 'still'), ['one', 'two'])
  await until(async () => !(await listed(scene)).some(({ position }) => position === other))
})

test('refuse a log that the read models do not belong to', async (scene) => {
  const stream = await poison(scene, 'other')
  await allow(scene, 'other')
  const rows = await dumpSchema(scene.database.url, schema)
  const { rows: known } = await sql(scene, 'select id from tracebook.followed_log')
  await sql(scene, 'update tracebook.followed_log set id = gen_random_uuid()')
  for (const words of [
    ['replay', stream],
    ['skip', '--position', await positionOf(scene, stream), '--why', 'x'],
  ]) {
    const { how, err } = await tracebook(scene, 'log', ...words)
    assert.is(how, 1)
    assert.match(err, 'belong to another log')
  }
  await onServer(scene.database.url, 'update tracebook.followed_log set id = $1', [known[0]!.id])
  assert.equal(await dumpSchema(scene.database.url, schema), rows)
})

test('say so when a database has no read models', async (scene) => {
  const database = await freshDatabase({ readModels: false })
  const { how, err } = await tracebook({ ...scene, database }, 'log', 'quarantine')
  await database.drop()
  assert.is(how, 1)
  assert.match(err, `The database has no read models ${schema}`)
})

test.run()
