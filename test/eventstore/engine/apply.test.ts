import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DecodedEvent, type Projection, projectionOf } from '../../../src/eventstore/engine/projection.ts'
import type { UserEvent } from '../../../src/server/user/events.ts'
import { decodedEvents, openModels } from '../../projections/support.ts'

const test = suite('engine: applying a batch')

type Changes = { readonly ids: string[] }

/** Counts users, also those of earlier batches, from its own rows. */
const counted = projectionOf<UserEvent>()<Changes>({
  name: 'counted',
  tables: 'create table seen (id uuid primary key); create table totals (users int4 not null);',
  rows: { seen: { user: 'id' } },
  indexes: '',
  start: () => ({ ids: [] }),
  on: {
    UserCreated: ({ ids }: Changes, { streamId }: DecodedEvent) => void ids.push(streamId),
    UserRenamed: 'ignored',
  } as never,
  write: ({ ids }, write) => write('seen', 'insert into seen select unnest($1::uuid[])', [ids]),
  derive: ({ ids }, { read, write }) =>
    ids.length === 0
      ? undefined
      : read<{ users: number }>('users', 'select count(*)::int4 as users from seen', []).then(([row]) =>
          write('totals', 'insert into totals values ($1)', [row!.users]),
        ),
})

/** Fails in the first statement that it sends. */
const failing: Projection = {
  ...counted,
  name: 'failing',
  tables: '',
  rows: {},
  write: (_changes, write) => write('', 'select 1 / 0', []),
}

const event = () => ({ stream: `user-${randomUUID()}`, event: { type: 'UserCreated', data: {} } as UserEvent })

test('a projection reads what this batch and earlier ones have written', async () => {
  const models = await openModels(counted)
  const one = await models.model()
  await one.apply(decodedEvents([event(), event()]))
  await one.apply(decodedEvents([event()]))
  assert.equal(await one.rows('select users from totals order by 1'), [{ users: 2 }, { users: 3 }])
  await one.close()
  await models.close()
})

test('the first error is thrown, not that of a later read, and nothing is written', async () => {
  const models = await openModels(counted, failing)
  const one = await models.model()
  const { message } = await one.apply(decodedEvents([event()])).then(
    () => ({ message: 'applied' }),
    (error: Error) => error,
  )
  assert.is(message, 'division by zero')
  assert.equal(await one.rows('select * from seen'), [])
  await one.close()
  await models.close()
})

test.run()
