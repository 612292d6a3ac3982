import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseEntry } from '../../../src/server/proof/entry.ts'
import { isShown } from '../../../src/server/proof/evidence/check-event.ts'
import { type CheckedSession, checkEvidence } from '../../../src/server/proof/evidence/check.ts'
import { type Caller, callers, newTeam, standingOf } from '../../access/team.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { until } from '../../support/until.ts'
import { type Person, callerOf, newEmptyWorld, openWorld, signIn } from '../../support/world.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'
import { audited, signer, untilSigned } from '../proof/support.ts'

const test = suite('web: evidence of a session')

const env = { ...audited, SUMMARY_PROVIDER: 'none' }
const { node, database } = await openWorld(test, { env })
const ada = await signIn(node)

const textMessage = (externalId: string, textContent: string) => ({ externalId, role: 'user', textContent })

/** Downloads the evidence of a session, and checks it. Asks again while no checkpoint covers it. */
const evidenceOf = async ({ open }: Pick<Person, 'open'>, page: string) => {
  const body = await until(async () => {
    const { statusCode, headers, body } = await open(`${page}/-/evidence.json`)
    if (statusCode === 200) return body
    assert.equal([statusCode, headers['retry-after']], [404, '2'], body)
    return undefined
  })
  const { events, sessions, commits, deletions } = checkEvidence(Buffer.from(body), { key: signer.verifier.text })
  const [{ begins, ...session }] = sessions as [CheckedSession]
  for (const event of events) assert.ok(isShown(event) && event.stream === `trace-${session.traceId}`)
  const shown = events.filter(isShown)
  assert.equal([commits, deletions, shown.indexOf(begins!) === -1], [[], [], false])
  return { body, session, begins: begins!.type, told: shown.map(({ type, externalId }) => [type, externalId]) }
}

test('has the event that the session begins with, and every one that wrote its messages', async () => {
  const { page, url, id, externalId } = await ada.newTrace({ title: 'Why: a/b?', agentId: 'codex' }, [
    textMessage('a', 'one'),
    textMessage('b', 'two'),
  ])
  await ada.send('PATCH', url, { visibility: 'public' })
  await ada.say(url, [textMessage('b', 'changed'), textMessage('c', 'b\u0000\ud800 "again"')])
  const { told, session } = await evidenceOf(ada, page)
  assert.equal(told, [
    ['TraceCreated', externalId],
    ['MessageAdded', 'a'],
    ['MessageAdded', 'b'],
    ['MessageUpdated', 'b'],
    ['MessageAdded', 'c'],
  ])
  const agentId = 'codex'
  assert.equal(session, { namespace: ada.namespaceSlug, traceId: id, externalId, agentId, isErased: false })
  const { headers } = await ada.open(`${page}/-/evidence.json`)
  assert.is(headers['content-type'], 'application/json; charset=utf-8')
  assert.match(headers['content-disposition'] as string, 'attachment; filename="Why a b.evidence.json"')
})

const expectedOf = (caller: Caller, visibility: string): number => {
  const standing = standingOf(caller)
  if (standing === 'nobody') return 401
  if (standing !== 'stranger') return 200
  return visibility === 'public' ? 403 : 404
}

const team = await newTeam(node, 'the-team')
const doors = ['evidence', 'evidence.json', 'timeline']

for (const caller of callers)
  test(`${caller}: only members get the file, its page and the timeline; only they are shown the link`, async () => {
    await untilSigned(node, ada.token, database)
    const { open } = callerOf(node, team.tokenOf(caller, 'elsewhere'))
    for (const visibility of ['private', 'direct', 'public']) {
      const page = `/@the-team/former-${visibility}`
      const expected = expectedOf(caller, visibility)
      for (const door of doors) assert.is((await open(`${page}/-/${door}`)).statusCode, expected, `${page}, ${door}`)
      assert.is((await open(page)).body.includes(`${page}/-/evidence"`), expected === 200, page)
    }
    for (const door of doors) assert.is((await open(`/@the-team/none/-/${door}`)).statusCode, 404, door)
  })

/** What the timeline says, newest first, with the proof of each entry. */
const timelineOf = async ({ open }: Pick<Person, 'open'>, page: string) => {
  const { statusCode, body } = await open(`${page}/-/timeline`)
  assert.is(statusCode, 200, body.slice(0, 500))
  const items = [...body.matchAll(/<li><div class="at">.*?<\/li>/gs)].map(([item]) => item)
  return items.map((item) => ({
    text: textOf(elementsOf(`<!doctype html>${/<span dir="auto">.*?<\/span>/s.exec(item)![0]}`)[0]!),
    proof: /href="([^"]+)"/.exec(item)?.[1]!.replaceAll('&amp;', '&'),
  }))
}

test('the timeline has the proof of each entry, as the API has it', async () => {
  const bob = await signIn(node)
  await bob.send('PATCH', '/v1/user', { displayName: 'Bob' })
  const { page, url } = await bob.newTrace(
    { title: 'A title' },
    [textMessage('a', 'one'), textMessage('b', 'two')],
    'a/ü',
  )
  await bob.send('PATCH', url, { visibility: 'public' })
  await untilSigned(node, bob.token, database)
  const entries = await timelineOf(bob, page)
  assert.equal(
    entries.map(({ text }) => text),
    ['Bob made the trace public', '2 messages added by Bob', 'Bob created the trace “A title”'],
  )
  for (const [i, type] of ['TraceUpdated', 'Message', 'TraceCreated'].entries()) {
    const { statusCode, body } = await bob.open(entries[i]!.proof!)
    assert.is(statusCode, 200, body)
    assert.match(parseEntry((JSON.parse(body) as { data: { entry: string } }).data.entry)!.type, type)
  }
})

test('a longer timeline comes by pages', async () => {
  const { page, url } = await ada.newTrace()
  for (let i = 0; i < 100; i++) await ada.send('PATCH', url, { title: `Title ${i}` })
  const first = (await ada.open(`${page}/-/timeline`)).body
  const [, next] = /<a class="btn" rel="next" href="([^"]+)"/.exec(first)!
  const second = (await ada.open(next!)).body
  const count = (body: string) => body.split('<li><div class="at">').length - 1
  assert.equal([count(first), count(second)], [100, 1])
  assert.not.match(second, 'rel="next"')
  assert.is((await ada.open(`${page}/-/timeline?cursor=nothing`)).statusCode, 400)
})

test('after an erasure of its past a session has evidence from there on, and its page says so', async () => {
  const { page, url } = await ada.newTrace({}, [textMessage('a', 'a secret'), textMessage('b', 'b')])
  await ada.say(url, [textMessage('a', 'no more')])
  assert.not.match((await ada.open(`${page}/-/evidence`)).body, 'was erased at')
  await ada.send('POST', `${url}/history/erase`)
  await ada.say(url, [textMessage('a', 'changed after it')])
  const { told, begins, body } = await evidenceOf(ada, page)
  assert.equal(
    told.map(([type]) => type),
    ['MessageRestated', 'MessageRestated', 'HistoryErased', 'MessageUpdated'],
  )
  assert.is(begins, 'HistoryErased')
  assert.not.match(body, 'a secret')
  assert.match((await ada.open(`${page}/-/evidence`)).body, 'The past of this session was erased at')
  assert.is((await timelineOf(ada, page)).length, 2)
})

test('a session that was created again has evidence of its present life, a deleted one none', async () => {
  const { page, url, externalId } = await ada.newTrace({}, [textMessage('a', 'the first life')])
  await ada.send('DELETE', url)
  for (const door of doors) assert.is((await ada.open(`${page}/-/${door}`)).statusCode, 404, door)
  await ada.newTrace({}, [textMessage('a', 'the second life')], externalId)
  const { told, body } = await evidenceOf(ada, page)
  assert.equal(told, [
    ['TraceCreated', externalId],
    ['MessageAdded', 'a'],
  ])
  assert.not.match(body, 'the first life')
})

test('a session of many messages, of more than 8 MiB, is sent piece by piece, all of it by one tree', async () => {
  const messages = Array.from({ length: 450 }, (_, i) => textMessage(`m${i}`, `${i} ${'x'.repeat(20_000)}`))
  const { page, url, externalId } = await ada.newTrace({}, messages)
  await ada.say(url, [textMessage('m0', 'changed')])
  const { told } = await evidenceOf(ada, page)
  assert.equal(
    told.map(([, name]) => name),
    [externalId, ...messages.map((one) => one.externalId), 'm0'],
  )
  assert.is((await ada.open(`${page}/-/evidence.json`)).headers['content-length'], undefined)
})

test('a service without a key says so, and has no file', async () => {
  const unsigned = await newEmptyWorld({ env: { SUMMARY_PROVIDER: 'none' } })
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
