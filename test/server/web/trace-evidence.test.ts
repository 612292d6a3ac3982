import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseEntry } from '../../../src/server/proof/entry.ts'
import { type Caller, callers, newTeam, standingOf } from '../../access/team.ts'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { evidenceOf, textMessage, timelineOf } from '../proof/evidence/support/pages.ts'
import { audited, untilSigned } from '../proof/support.ts'

const test = suite('web: evidence of a session')

const env = { ...audited, SUMMARY_PROVIDER: 'none' }
const { node, database } = await openWorld(test, { env })
const ada = await signIn(node)

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

test('a session that was moved has evidence from there on, and its page says from where', async () => {
  const { slug } = await ada.newTeam()
  const { url, externalId } = await ada.newTrace({}, [textMessage('a', 'one')])
  await ada.send('POST', `${url}/move`, { namespace: slug })
  const page = `/@${slug}/${externalId}`
  const { told, begins } = await evidenceOf(ada, page)
  assert.equal(
    told.map(([type]) => type),
    ['MessageRestated', 'HistoryErased'],
  )
  assert.is(begins, 'HistoryErased')
  const { body } = await ada.open(`${page}/-/evidence`)
  assert.match(body, `This session was moved here from @${ada.namespaceSlug} at`)
  assert.not.match(body, 'was erased at')
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

test.run()
