import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { listen, openSlowReader } from '../../support/slow-reader.ts'
import { WITH_WORKER, callerOf, newEmptyWorld, openWorld, signIn } from '../../support/world.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'
import { evidenceOf, textMessage, timelineOf } from './evidence/support/pages.ts'
import { audited, untilSigned } from './support.ts'

const test = suite('proof: the evidence file of a session')

const env = { ...audited, SUMMARY_PROVIDER: 'none' }
const { node, database } = await openWorld(test, { env })
const port = await listen(node)
const ada = await signIn(node)

/** A session of more messages than one request proves, and with more than a client may leave unread. */
const large = () => Array.from({ length: 300 }, (_, i) => textMessage(`m${i}`, `${i} ${'x'.repeat(50_000)}`))

test('a session of many messages, and of many MiB, is proved by one tree', async () => {
  const { page, url, externalId } = await ada.newTrace({}, large())
  await ada.say(url, [textMessage('m0', 'changed')])
  const { told } = await evidenceOf(ada, page)
  assert.equal(
    told.map(([, name]) => name),
    [externalId, ...large().map((one) => one.externalId), 'm0'],
  )
})

test('a file is broken off when the past of its session is erased meanwhile', async () => {
  const { page, url } = await ada.newTrace({}, large())
  await untilSigned(node, ada.token, database)
  const reader = await openSlowReader(port, `${page}/-/evidence.json`, ada.token)
  await ada.send('POST', `${url}/history/erase`)
  const { text, isWhole } = await reader.rest()
  assert.equal([text.startsWith('{"format":"tracebook-evidence/1",'), isWhole], [true, false])
})

test('a service without a key says so, and has no file', async () => {
  const unsigned = await newEmptyWorld({ env: { ...WITH_WORKER, SUMMARY_PROVIDER: 'none' } })
  try {
    const eve = await signIn(await unsigned.openNode())
    const { page } = await eve.newTrace({}, [textMessage('a', 'one')])
    const { body } = await eve.open(`${page}/-/evidence`)
    assert.match(body, 'This service signs no checkpoints')
    assert.not.match(body, 'evidence.json')
    const { statusCode, headers } = await eve.open(`${page}/-/evidence.json`)
    assert.equal([statusCode, headers['retry-after']], [404, undefined])
    assert.equal(
      (await timelineOf(eve, page)).map(({ proof }) => proof),
      [undefined, undefined],
    )
  } finally {
    await unsigned.close()
  }
})

test('what no checkpoint covers yet has no proof, and the pages say when to try again', async () => {
  const slow = await newEmptyWorld({ env })
  try {
    const first = await slow.openNode()
    const mary = await signIn(first)
    const { page, url } = await mary.newTrace({}, [textMessage('a', 'one')], 'old')
    await untilSigned(first, mary.token, slow.database)
    await first.close()
    const later = callerOf(await slow.openNode({ env: { ROLES: 'api,projector' } }), mary.token)
    await later.send('POST', `${url}/messages/batch`, { messages: [textMessage('b', 'two')] })
    await later.send('PUT', '/v1/traces/new', {})
    const fresh = page.replace('old', 'new')
    for (const [path, said] of [
      [page, 'Its newest events are not in a signed checkpoint yet'],
      [fresh, 'No signed checkpoint covers this session yet'],
    ] as const) {
      assert.match(
        textOf(elementsOf((await later.open(`${path}/-/evidence`)).body)[0]!),
        `${said}. Try again in 2 seconds.`,
      )
      const { statusCode, headers } = await later.open(`${path}/-/evidence.json`)
      assert.equal([statusCode, headers['retry-after']], [404, '2'], path)
    }
    const isProven = async (path: string) => (await timelineOf(later, path)).map(({ proof }) => proof !== undefined)
    assert.equal([await isProven(page), await isProven(fresh)], [[false, true, true], [false]])
  } finally {
    await slow.close()
  }
})

/** Smaller than one of the events, which is stored in chunks there. */
const IN_CHUNKS = '&maxAppendBytes=700000'

test('a log in EventStoreDB has evidence, too', async () => {
  const double = await startDouble()
  const world = await newEmptyWorld({ env: { ...env, EVENTSTORE_URL: `${double.url}${IN_CHUNKS}` } })
  try {
    const eve = await signIn(await world.openNode())
    const long = 'x'.repeat(1_500_000)
    const { page, url } = await eve.newTrace({}, [
      textMessage('a', 'a secret'),
      textMessage('b', long),
      textMessage('c', 'c'),
    ])
    await eve.send('POST', `${url}/history/erase`)
    await eve.say(url, [textMessage('b', `${long} changed`), textMessage('d', 'd')])
    assert.equal(
      (await evidenceOf(eve, page)).told.map(([type]) => type),
      ['MessageRestated', 'MessageRestated', 'MessageRestated', 'HistoryErased', 'MessageUpdated', 'MessageAdded'],
    )
  } finally {
    await world.close()
    await double.stop()
  }
})

test.run()
