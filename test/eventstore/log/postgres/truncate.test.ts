import type pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openPostgresLog } from '../../../../src/eventstore/log/postgres/postgres-log.ts'
import { truncateStream } from '../../../../src/eventstore/log/postgres/truncate.ts'
import { migrate } from '../../../../src/eventstore/postgres/migrate.ts'
import { newPool } from '../../../../src/eventstore/postgres/connect.ts'
import { type Database, freshDatabase } from '../../../support/database.ts'
import { aStream, numbered } from '../support/events.ts'

type Scene = { database: Database; log: ReturnType<typeof openPostgresLog>; pool: pg.Pool }

const test = suite<Scene>('log/postgres: truncation')
test.before(async (scene) => {
  scene.database = await freshDatabase()
  await migrate(scene.database.url)
  scene.log = openPostgresLog({ url: scene.database.url })
  scene.pool = newPool({ url: scene.database.url, name: 'test', max: 2, statementTimeoutMs: 10_000 })
})
test.after(async ({ log, pool, database }) => {
  await log.close()
  await pool.end()
  await database.drop()
})

/** A stream of appends of these sizes. */
const streamOf = async ({ log }: Scene, sizes: readonly number[]) => {
  const stream = aStream()
  let end = -1n
  for (const size of sizes)
    end = (await log.append(stream, end < 0n ? 'none' : end, numbered(size, Number(end) + 1))).revision
  return { stream, end }
}

/** How many records are left of a stream after each statement that deletes some, and whether they are the first ones and the last. */
const stepsOf = async ({ pool }: Scene, stream: string, before: bigint) => {
  const steps: number[] = []
  const left = async () =>
    (await pool.query('select revision from log.events where stream = $1 order by revision', [stream])).rows.map(
      ({ revision }) => Number(revision),
    )
  const query = async (asked: pg.QueryConfig) => {
    const result = await pool.query(asked)
    if (asked.name !== 'log-truncate') return result
    const revisions = await left()
    assert.equal(
      revisions.slice(0, -1),
      revisions.slice(0, -1).map((_, i) => revisions[0]! + i),
    )
    steps.push(revisions.length)
    return result
  }
  await truncateStream({ query } as unknown as pg.Pool, stream, before)
  return steps
}

test('deletes whole appends from the end, at most 2,000 records or one append at a time', async (scene) => {
  for (const [sizes, steps] of [
    [
      [300, 2_500, 1_200, 900, 1],
      [4_001, 2_801, 301, 1],
    ],
    [[1, 200, 200, 1], [1]],
    [
      [2_000, 2_000, 1],
      [2_001, 1],
    ],
    [[5_000, 1], [1]],
    [[1], []],
  ] as const) {
    const { stream, end } = await streamOf(scene, sizes)
    assert.equal(await stepsOf(scene, stream, end), steps, `${sizes}`)
    assert.equal(await stepsOf(scene, stream, end), [], 'once more')
  }
})

test('deletes all of a stream that begins in the middle of an append', async (scene) => {
  for (const [size, cut, steps] of [
    [2_500, 1_000, [1]],
    [4_500, 1_000, [3_501, 1]],
  ] as const) {
    const { stream, end } = await streamOf(scene, [size, 500, 1])
    await scene.pool.query('delete from log.appends where stream = $1 and revision < $2', [stream, cut])
    assert.equal(await stepsOf(scene, stream, end), steps, `${size}`)
  }
})

test('never cuts another row than the one whose end it has read', async (scene) => {
  const { pool, log } = scene
  const { stream } = await streamOf(scene, [60, 60])
  const before = await Array.fromAsync(log.read(stream))
  const query = async (asked: pg.QueryConfig) => {
    if (asked.name === 'log-truncate') await truncateStream(pool, stream, 65n) // that of another process comes first
    return pool.query(asked)
  }
  await truncateStream({ query } as unknown as pg.Pool, stream, 36n)
  assert.equal(await Array.fromAsync(log.read(stream)), before.slice(65))
})

test.run()
