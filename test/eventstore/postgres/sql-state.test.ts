import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SqlState, hasSqlState } from '../../../src/eventstore/postgres/sql-state.ts'
import { freshDatabase, onServer } from '../../support/database.ts'
import { errorOf } from '../log/support/events.ts'

const test = suite('postgres/sql-state')

/** What a server says of a condition that it does not know: 14 to 16 have no limit for transactions. */
const UNDEFINED_OBJECT = '42704'

test('has the codes that PostgreSQL has under these names', async () => {
  const database = await freshDatabase()
  const missing = await errorOf(onServer(database.url, 'select from nowhere'))
  assert.ok(hasSqlState(missing, SqlState.lockNotAvailable, SqlState.undefinedTable))
  assert.not(hasSqlState(missing, SqlState.lockNotAvailable))
  assert.ok(missing instanceof pg.DatabaseError)
  for (const [name, code] of Object.entries(SqlState)) {
    const condition = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const raised = await errorOf(onServer(database.url, `do $$ begin raise ${condition}; end $$`))
    const { code: actual } = raised as { code?: string }
    if (!(actual === UNDEFINED_OBJECT && name === 'transactionTimeout')) assert.is(actual, code, name)
  }
  await database.drop()
})

test('an error of other code has no such code', () => {
  for (const error of [undefined, null, new Error('lost'), { code: 42 }])
    assert.not(hasSqlState(error, SqlState.undefinedTable))
})

test.run()
