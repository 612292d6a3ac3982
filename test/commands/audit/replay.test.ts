import * as assert from 'uvu/assert'
import {
  allow,
  append,
  call,
  poison,
  quarantineSuite,
  schema,
  sql,
  streamOf,
  tracebook,
} from '../support/quarantined.ts'

const test = quarantineSuite('tracebook audit replay')

const documentsOf = (out: string) =>
  out.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore

test('says that a clean service is equal to its log, also while it is written to, and leaves nothing behind', async (scene) => {
  await call(scene, 'PUT', 'a', { title: 'A' })
  await call(scene, 'PUT', 'a/messages/m', { role: 'user', textContent: 'x' })
  const bare = await tracebook(scene, 'audit', 'replay', '--group', 'main')
  assert.equal([bare.how, bare.err], [0, ''])
  assert.match(bare.out, /^read models main replayed to position \d+ in [\d.]+ s\n$/)
  let over = false
  const writing = (async () => {
    for (let i = 0; !over; i++) assert.is((await call(scene, 'PUT', `w${i % 5}`, { title: `${i}` })).status, 200)
  })()
  const compared = await tracebook(scene, 'audit', 'replay', '--compare', '--group', 'main')
  over = true
  await writing
  assert.equal([compared.how, compared.err], [0, ''])
  assert.match(compared.out, ': equal to the served ones')
  const { rows } = await sql(scene, `select nspname from pg_namespace where nspname like '${schema}%'`)
  assert.equal(rows, [{ nspname: schema }])
})

test('names what differs from the log, and swaps only when asked', async (scene) => {
  await call(scene, 'PUT', 'b', { title: 'B' })
  const id = streamOf(scene, 'b').slice('trace-'.length)
  await sql(scene, `update ${schema}.traces set title = '"\\u001b[2J"' where id = '${id}'`)
  await sql(scene, `delete from ${schema}.feed where id = '${id}'`)
  await sql(scene, `insert into ${schema}.users values ('${id}', null)`)
  const told = await tracebook(scene, 'audit', 'replay', '--compare', '--group', 'main')
  assert.is(told.how, 3)
  for (const [table, what] of [
    ['feed', 'missing'],
    ['traces', 'different: title'],
    ['users', 'extra'],
  ])
    assert.match(told.out, `${schema}.${table} id=${id}: ${what}\n`)
  assert.match(told.out, ': 3 differences\n')

  const { how, out } = await tracebook(scene, 'audit', 'replay', '--compare', '--swap', '--json', '--group', 'main')
  assert.is(how, 3)
  const documents = documentsOf(out)
  assert.equal(
    documents.filter(({ type }) => type === 'difference'),
    [
      { type: 'difference', group: 'main', table: 'feed', kind: 'missing', key: { id } },
      { type: 'difference', group: 'main', table: 'traces', kind: 'different', key: { id }, columns: ['title'] },
      { type: 'difference', group: 'main', table: 'users', kind: 'extra', key: { id } },
    ],
  )
  assert.is(documents.at(-1)!.differences, 3)
  assert.is((await tracebook(scene, 'audit', 'replay', '--compare', '--group', 'main')).how, 0)
  const { data } = await call(scene, 'GET', 'b')
  assert.is((data as { trace: { title: string } }).trace.title, 'B')
})

test('leaves out streams in quarantine, and names them', async (scene) => {
  const stream = await poison(scene, 'bad')
  await call(scene, 'PUT', 'good', { title: 'x' })
  const found = await tracebook(scene, 'audit', 'replay', '--compare', '--group', 'main')
  assert.is(found.how, 3, found.out)
  assert.match(found.out, `${stream}: in quarantine, not compared\n`)
  assert.match(found.out, 'equal to the served ones, without 1 stream in quarantine')
  await allow(scene, 'bad')
  await append(scene, streamOf(scene, 'worse'), 'Exploded', {})
  assert.is((await tracebook(scene, 'audit', 'replay', '--compare', '--swap')).how, 3)
})

test('wrong words have exit codes', async (scene) => {
  const { how, err } = await tracebook(scene, 'audit', 'replay', '--group', 'none')
  assert.is(how, 2)
  assert.match(err, 'There are no read models "none"')
})

test.run()
