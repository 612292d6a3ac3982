import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DamagedRow } from '../../../../src/eventstore/log/postgres/body.ts'
import { openPostgresLog } from '../../../../src/eventstore/log/postgres/postgres-log.ts'
import { startTreeProcess } from '../../../../src/server/proof/process.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import { freshDatabase, onServer } from '../../../support/database.ts'
import { outage, silent } from '../../../support/silent.ts'
import { untilCovered } from '../../../server/proof/support.ts'
import { findingsOf } from '../../../server/proof/verify/support.ts'
import { aStream, all, anAppend, errorOf } from '../support/events.ts'

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

test.run()
