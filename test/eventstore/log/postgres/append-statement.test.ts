import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { prepareAppend } from '../../../../src/eventstore/log/postgres/append-statement.ts'
import { rowsOf } from '../../../../src/eventstore/log/postgres/rows.ts'
import { anAppend } from '../support/events.ts'

test('the data is the last parameter: the client copies what it has written before if a parameter does not fit its buffer', async () => {
  const events = anAppend(...Array.from({ length: 40 }, () => JSON.stringify(randomBytes(7_500).toString('base64'))))
  let lengths: number[] = []
  const query = async ({ values }: pg.QueryConfig<Buffer[]>) => {
    lengths = values!.map(({ length }) => length)
    return { rows: [{ stored: true, fresh: false, revision: 39n, position: 40n }] }
  }
  const append = { stream: 'thing-1', expected: -1n, events }
  await prepareAppend([{ append, rows: await rowsOf(events) }])({ query } as unknown as pg.Client)
  assert.is(lengths.indexOf(Math.max(...lengths)), lengths.length - 1)
})

test.run()
