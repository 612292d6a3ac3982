import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UnknownEvent } from '../../../src/eventstore/engine/codec.ts'
import { RebuildBlocked, isRetryable } from '../../../src/eventstore/engine/retryable-errors.ts'
import { SessionLost } from '../../../src/eventstore/postgres/leader.ts'
import { freshDatabase, onServer } from '../../support/database.ts'
import { errorOf } from '../log/support/events.ts'

const test = suite('engine/retryable-errors')

const refused = (code: string) => Object.assign(new pg.DatabaseError('refused', 1, 'error'), { code })

test('a temporary error is retryable', () => {
  const passing = [
    new RebuildBlocked('another rebuild is running'),
    new SessionLost('ended'),
    refused('25P03'), // frozen within a transaction, and ended for that
    refused('57P05'),
    refused('57P01'),
  ]
  for (const error of passing) assert.ok(isRetryable(error), `${error.name} ${error.message}`)
})

test('an event that cannot be applied is not retryable', async () => {
  const database = await freshDatabase()
  assert.not(isRetryable(await errorOf(onServer(database.url, 'select 1 / 0'))))
  assert.not(isRetryable(new UnknownEvent('Unheard')))
  await database.drop()
})

test.run()
