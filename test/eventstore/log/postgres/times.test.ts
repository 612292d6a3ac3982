import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openPostgresLog } from '../../../../src/eventstore/log/postgres/postgres-log.ts'
import { readHead, readNextEvents, readPositionAt } from '../../../../src/eventstore/log/postgres/times.ts'
import { newReportClient, withConnection } from '../../../../src/eventstore/postgres/connect.ts'
import { freshDatabase, onServer } from '../../../support/database.ts'

const test = suite('log/postgres: times')

/** An append of so many events, which were recorded at one time. */
const recordedAt = (at: number, size: number) =>
  Array.from({ length: size }, (_, index) => ({
    id: randomUUID(),
    type: 'Noted',
    data: '{}',
    metadata: JSON.stringify({ at, schema: 1, append: { id: 'a', index, size } }),
  }))

/** Sizes of appends, the first recorded at 0, the next at 10, and so on. */
const SIZES = [3, 1, 1, 7, 2, 1, 5]

test('the position at a time is the end of the last append before it, wherever rows of erased events are missing', async () => {
  const database = await freshDatabase()
  const log = openPostgresLog({ url: database.url })
  try {
    const ends: number[] = [0]
    for (const [i, size] of SIZES.entries()) {
      await log.append(`stream-${i}`, 'none', recordedAt(i * 10, size))
      ends.push(ends.at(-1)! + size)
    }
    await withConnection(newReportClient(database.url, 'test', 'log'), async (client) => {
      assert.is(await readHead(client), BigInt(ends.at(-1)!))
      const positionAt = async (at: number) => Number(await readPositionAt(client, at, BigInt(ends.at(-1)!)))
      for (const [i, end] of ends.entries()) {
        assert.is(await positionAt(i * 10 - 9), end, `before ${i * 10 - 9}`)
        assert.is(await positionAt(i * 10), end, `before ${i * 10}`)
      }
      assert.equal(await readNextEvents(client, BigInt(ends[3]! + 1)), { last: BigInt(ends[4]!), at: 30 })
      assert.is(await readNextEvents(client, BigInt(ends.at(-1)!)), undefined)
      await onServer(database.url, 'delete from log.appends where last = $1', [ends[4]])
      assert.equal([await positionAt(30), await positionAt(31)], [ends[3], ends[3]])
    })
  } finally {
    await log.close()
    await database.drop()
  }
})

test('an empty log is at its beginning at any time', async () => {
  const database = await freshDatabase()
  try {
    await withConnection(newReportClient(database.url, 'test', 'log'), async (client) => {
      assert.is(await readHead(client), 0n)
      assert.is(await readPositionAt(client, Date.now(), 0n), 0n)
    })
  } finally {
    await database.drop()
  }
})

test.run()
