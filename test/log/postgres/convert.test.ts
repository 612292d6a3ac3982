import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { NotConverted, convertEvents } from '../../../src/log/postgres/convert.ts'
import { readBackup } from '../../../src/backup/write.ts'
import { openLog } from '../../../src/log/open-log.ts'
import { openPostgresEvents } from '../../../src/proof/verify/postgres-events.ts'
import { openPostgresLog } from '../../../src/log/postgres/postgres-log.ts'
import type { NewEvent } from '../../../src/log/log.ts'
import { int4s, int8s, jsons, texts, uuids } from '../../../src/postgres/arrays.ts'
import { migrate, migrateTo } from '../../../src/postgres/migrate.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'
import { all, anAppend, errorOf, numbered } from '../support/events.ts'

const test = suite('a log written by an older version')

/** Appends as the version before did. */
const appendTo = async (url: string, stream: string, expected: number, events: readonly NewEvent[]) => {
  const values = [
    texts([stream]),
    int8s([expected]),
    int4s([events.length]),
    int4s(events.map(() => 1)),
    uuids(events.map(({ id }) => id)),
    texts(events.map(({ type }) => type)),
    jsons(events.map(({ data }) => data)),
    jsons(events.map(({ metadata }) => metadata)),
    int4s(events.map(({ data, metadata }) => data.length + metadata.length)),
  ]
  const { rows } = await onServer(url, 'select stored from log.append($1, $2, $3, $4, $5, $6, $7, $8, $9)', values)
  assert.is((rows[0] as { stored: boolean }).stored, true)
}

const foreign = (metadata: string) => numbered(2).map((event) => ({ ...event, metadata }))

/** Appends of all shapes, one of which was erased up to its last event, and one at its beginning. */
const openOld = async (): Promise<Database> => {
  const database = await freshDatabase({ readModels: false })
  await onServer(database.url, 'drop schema log cascade; drop schema tracebook cascade')
  await migrateTo(database.url, '0009_proof')
  await appendTo(database.url, 'a', -1, numbered(3))
  await appendTo(database.url, 'b', -1, numbered(1_300))
  await appendTo(database.url, 'a', 2, anAppend('{"text":"äöü 🜚"}', `{"n":"${'x'.repeat(3_000_000)}"}`, '{"n":3}'))
  for (const [i, metadata] of ['null', '{"index":7}', '[1, {"index":1e2}]', '"\\u0000 \\"index\\":1"'].entries())
    await appendTo(database.url, `foreign-${i}`, -1, foreign(metadata))
  await appendTo(database.url, 'gone', -1, numbered(5))
  await appendTo(database.url, 'gone', 4, numbered(3, 5))
  await onServer(database.url, `delete from log.events where stream = 'gone' and revision < 7`)
  await onServer(database.url, `delete from log.events where stream = 'b' and revision between 2 and 9`)
  return database
}

const columns = 'id, stream, revision, position, type, metadata::text, data::text'
const stored = async ({ url }: Database) =>
  (await onServer(url, `select ${columns} from log.events order by position`)).rows

const read = async ({ url }: Database) => {
  const log = openPostgresLog({ url })
  const events = await all(log.readAll({ after: 0n }))
  await log.close()
  return events.map((event) => ({ ...event, position: `${event.position}`, revision: `${event.revision}` }))
}

test('holds the same events after its conversion, byte for byte, even if that was interrupted repeatedly', async () => {
  const database = await openOld()
  const before = await stored(database)
  await migrate(database.url)
  let steps = 0
  const breakOff = () => {
    steps += 1
    throw new Error('broken off')
  }
  const attempt = () =>
    convertEvents(database.url, { stepBytes: 20_000, report: breakOff }).then(
      () => true,
      (error: Error) => error.message !== 'broken off',
    )
  while (!(await attempt())) assert.ok(steps < 1_000)
  assert.ok(steps > 5, `${steps}`)
  assert.equal(await read(database), before)
  const { rows } = await onServer(database.url, 'select max(bytes) as bytes from log.appends')
  assert.equal(rows, [{ bytes: 3_000_008 }], 'large ones are compressed')
  const log = openPostgresLog({ url: database.url })
  assert.is(
    (await log.append('a', 5n, numbered(1))).position,
    BigInt((before.at(-1) as { position: string }).position) + 1n,
  )
  await log.close()
  await database.drop()
})

test('is converted once by several processes that start together', async () => {
  const database = await openOld()
  const before = await stored(database)
  await migrate(database.url)
  const moved: number[] = []
  const convert = () => convertEvents(database.url, { report: ({ converted }) => void moved.push(converted) })
  await Promise.all([convert(), convert(), convert()])
  assert.equal(await read(database), before)
  assert.is(moved.at(-1), before.length)
  await convert()
  await database.drop()
})

test('refuses appends of a process of the older version, as if it were unreachable', async () => {
  const database = await openOld()
  await migrate(database.url)
  const error = await appendTo(database.url, 'a', 5, numbered(1)).catch((error: unknown) => error)
  assert.is((error as { code: string }).code, '55000')
  await convertEvents(database.url)
  await database.drop()
})

test('is not read before all of it is converted, because a part would look like a log that lost the rest', async () => {
  const database = await openOld()
  const { url } = database
  const refused = async () => {
    for (const read of [
      () => openLog({ databaseUrl: url }),
      () => openPostgresEvents(url),
      () => readBackup({ url, at: 0 }, () => {}).next(),
    ])
      assert.instance(await errorOf(read()), NotConverted)
  }
  await refused()
  await migrate(database.url)
  await refused()
  const breakOff = () => {
    throw new Error('broken off')
  }
  await errorOf(convertEvents(database.url, { stepBytes: 20_000, report: breakOff }))
  await refused()
  await convertEvents(database.url)
  await (await openLog({ databaseUrl: database.url })).close()
  await database.drop()
})

test.run()
