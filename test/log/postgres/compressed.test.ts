import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DamagedRow } from '../../../src/log/postgres/body.ts'
import { openPostgresLog } from '../../../src/log/postgres/postgres-log.ts'
import { migrate, migrateTo } from '../../../src/postgres/migrate.ts'
import { startTreeProcess } from '../../../src/proof/process.ts'
import { wholeAppends } from '../../../src/log/whole-appends.ts'
import { freshDatabase, onServer } from '../../support/database.ts'
import { outage, silent } from '../../support/silent.ts'
import { untilCovered } from '../../proof/support.ts'
import { findingsOf } from '../../proof/verify/support.ts'
import { aStream, all, anAppend, bodies, errorOf } from '../support/events.ts'

const test = suite('log/postgres: compressed rows')

const spacious = (count: number) =>
  anAppend(...Array.from({ length: count }, (_, i) => JSON.stringify({ i, text: `ä ${i} `.repeat(400) })))

const sequence = async function* <T>(source: AsyncIterable<{ events: readonly T[] }>) {
  for await (const { events } of source) yield* events
}

test('a damaged row is named by whatever reads it, and found by a check of the log', async () => {
  const database = await freshDatabase()
  const { url } = database
  const log = wholeAppends(openPostgresLog({ url }))
  const stream = aStream()
  await log.append(stream, 'none', anAppend('{"n":0}'))
  const { position } = await log.append(stream, 0n, spacious(20))
  const proof = startTreeProcess({ url, log, signer: undefined, now: Date.now, logger: silent, outage })
  await untilCovered(database, log)
  await proof.close()
  assert.equal(await findingsOf(database), [])

  await onServer(
    url,
    'update log.appends set body = set_byte(body, 40, get_byte(body, 40) # 1) where bytes is not null',
  )
  const { signal } = new AbortController()
  const after = position - 21n
  for (const read of [
    () => all(log.read(stream)),
    () => all(log.read(stream, { backwards: true })),
    () => all(log.readRevisions(stream, [3n])),
    () => all(sequence(openPostgresLog({ url }).follow({ after, signal }))),
    () => log.truncate(stream, 5n),
  ])
    assert.instance(await errorOf(read()), DamagedRow)
  const found = await findingsOf(database)
  assert.equal([found.length, ...new Set(found.map(({ kind }) => kind))], [20, 'changed'])
  await log.close()
  await database.drop()
})

const oldColumns = 'last, stream, revision, size, ids, heads, lengths, data'

test('rows of an older version stay as they are, and its nodes are refused', async () => {
  const database = await freshDatabase({ readModels: false })
  const { url } = database
  await onServer(url, 'drop schema log cascade; drop schema tracebook cascade')
  await migrateTo(url, '0011_search')
  const events = spacious(900)
  const data = bodies(events)
  await onServer(
    url,
    `insert into log.appends (${oldColumns}) select 900, 's', 899, 900, $1::uuid[], $2::json, array_agg(octet_length(d)), convert_to(string_agg(d, ''), 'UTF8')
     from unnest($3::text[]) d`,
    [events.map(({ id }) => id), JSON.stringify([[900, 'Noted', '{"append":{"index":', 0, ',"size":900}}']]), data],
  )
  await migrate(url)

  const log = openPostgresLog({ url })
  await log.append('s', 899n, spacious(20))
  assert.equal(bodies(await all(log.read('s'))), [...data, ...data.slice(0, 20)])
  const some = [0, 1, 500, 899, 900, 901, 919]
  const read = bodies(await all(log.readRevisions('s', some.map(BigInt))))
  assert.equal(read, some.map((revision) => data[revision % 900])) // prettier-ignore
  await log.truncate('s', 450n)
  assert.equal(bodies(await all(log.read('s'))), [...data.slice(450), ...data.slice(0, 20)])
  await log.close()

  const append = `select from log.append_rows('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'::json[], '{}'::uuid[], '{}'::int4[], '{}'::bytea[])`
  assert.match(String(await errorOf(onServer(url, append))), 'update this node')
  assert.match(String(await errorOf(onServer(url, 'select data from log.appends'))), 'does not exist')
  await database.drop()
})

test.run()
