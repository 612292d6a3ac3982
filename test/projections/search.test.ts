import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { rebuild } from '../../src/eventstore/engine/rebuild.ts'
import { newCodec } from '../../src/eventstore/engine/codec.ts'
import { formats } from '../../src/server/events.ts'
import { segmentsOfNames, segmentsStatement } from '../../src/tables/search.ts'
import { withConnection } from '../support/database.ts'
import { dumpSchema } from '../support/dump-schema.ts'
import { until } from '../support/until.ts'
import { SEGMENT_ROWS, indexed, openSearch, smallSegments } from '../server/search/support/open-search.ts'

const test = suite('projections: search')

const { app, database, send, write, find } = await openSearch(test)

const rowsNow = async () => {
  await indexed(app)
  return (await dumpSchema(database.url, schemaOf(smallSegments))).search_docs!
}

test('rows are in segments in the order of arrival, and a query reads all segments', async () => {
  for (let i = 0; i < 8; i++) {
    await write(
      `t${i}`,
      Array.from({ length: 9 }, (_, n) => `word${i} number${n} same`),
    )
    await indexed(app)
  }
  const dump = await dumpSchema(database.url, schemaOf(smallSegments))
  const sizes = Object.entries(dump)
    .filter(([name]) => name.startsWith('search_docs_'))
    .map(([, rows]) => rows.length)
  assert.ok(sizes.length >= 3 && sizes.every((size) => size <= SEGMENT_ROWS + 10), String(sizes))
  assert.is(
    sizes.reduce((a, b) => a + b, 0),
    dump.search_docs!.length,
  )
  assert.equal((await find('same', '&sort=newest')).length, 8)
  assert.equal([await find('word0'), await find('word7')], [['t0'], ['t7']])
})

test('a rebuild makes the same rows, for any changes in any batches', async () => {
  await send('PUT', '/v1/traces/t0/messages/m3', { role: 'user', textContent: 'changed' })
  await send('PUT', '/v1/traces/t1', { visibility: 'public', title: 'Public', agentId: 'other', gitBranch: 'b' })
  await send('DELETE', '/v1/traces/t2')
  await send('DELETE', '/v1/traces/t3')
  await write('t3', ['again'])
  await send('PUT', '/v1/traces/t4/messages/m0', { role: 'user', textContent: 'before' })
  await send('PUT', '/v1/traces/t4/messages/m0', { role: 'user', textContent: 'after' })
  await send('POST', '/v1/traces/t4/history/erase')
  await send('PUT', '/v1/traces/t4/messages/m1', {
    role: 'assistant',
    parts: [{ type: 'text', content: { text: 'later' } }],
  })
  const live = await rowsNow()
  assert.is(live.length, 6 * 10 + 2, 'a row for each message and for each trace')
  await rebuild({ url: database.url, group: smallSegments, log: app.service.log, codec: newCodec(formats) })
  assert.equal(await rowsNow(), live)
  assert.equal([await find('before'), await find('after'), await find('agent:other number2')], [[], ['t4'], ['t1']])
})

test('the service merges segments while it has nothing else to do', async () => {
  for (let i = 0; i < 9; i++) {
    await write(`merged${i}`, Array<string>(20).fill(`merged number${i}`))
    await indexed(app)
  }
  const levels = () =>
    withConnection(database.url, async (client) => {
      await client.query(`set search_path = ${schemaOf(smallSegments)}`)
      const { rows } = await client.query<{ name: string }>(segmentsStatement)
      return segmentsOfNames(rows.map(({ name }) => name)).map(({ level }) => level)
    })
  await until(async () => (await levels()).includes(1))
  assert.is((await find('merged')).length, 9)
})

test.run()
