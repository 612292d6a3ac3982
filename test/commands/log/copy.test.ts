import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { freshDatabase } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { numbered } from '../../eventstore/log/support/events.ts'
import { endedBy } from '../support/ended-by.ts'
import { run } from '../support/user.ts'

const tracebook = (...words: string[]) => run(['log', ...words], {})

test('`log copy` copies and verifies, also a second time; a target with other content is refused', async () => {
  const [double, database] = [await startDouble(), await freshDatabase()]
  const log = openEventStoreLog({ url: double.url })
  await log.append('a', 'none', numbered(3))
  await log.close()
  const first = await tracebook('copy', '--from', double.url, '--to', database.url)
  const again = await tracebook('copy', '--from', double.url, '--to', database.url)
  assert.equal([first.how, again.how], [0, 0])
  assert.match(first.out, '3 events, 3 of them copied now. Verified')
  assert.match(again.out, '3 events, 0 of them copied now. Verified')
  const other = openEventStoreLog({ url: double.url, prefix: 'other.' })
  await other.append('b', 'none', numbered(1))
  await other.close()
  const refused = await tracebook('copy', '--from', `${double.url}&streamPrefix=other.`, '--to', database.url)
  assert.is(refused.how, 1)
  assert.match(refused.err, 'the target has an event that the source does not have there')
  await Promise.all([double.stop(), database.drop()])
})

test('`log copy` says in how many streams revisions are others, because a link may name one', async () => {
  const [double, database] = [await startDouble(), await freshDatabase()]
  const log = openEventStoreLog({ url: double.url })
  await log.append('a', 'none', numbered(3))
  await log.append('b', 'none', numbered(3))
  await log.truncate('b', 2n)
  await log.close()
  for (const _ of ['first', 'again']) {
    const { how, err } = await tracebook('copy', '--from', double.url, '--to', database.url)
    assert.is(how, 0)
    assert.match(err, 'In 1 of the streams events have other revisions than in the source.')
  }
  await Promise.all([double.stop(), database.drop()])
})

test('a copy that a signal ends says how far it came and ends with the code of the signal; another run goes on', async () => {
  const [double, database] = [await startDouble(), await freshDatabase()]
  const log = openEventStoreLog({ url: double.url })
  for (let i = 0; i < 20; i++) await log.append(`stream-${i}`, 'none', numbered(3))
  await log.close()
  const copying = ['copy', '--from', double.url, '--to', database.url]
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const { how, out, err } = await endedBy(signal, database.url, ['log', ...copying], {})
    assert.equal([how, out], [code, ''])
    assert.match(err, /^Stopped after \d+ events\. Run it again to continue\.\ntracebook: (interrupted|ended) by/)
  }
  assert.match((await tracebook(...copying)).out, /^60 events, [345]\d of them copied now\. Verified/)
  await Promise.all([double.stop(), database.drop()])
})

test.run()
