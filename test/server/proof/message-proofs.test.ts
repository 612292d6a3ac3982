import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copyLog } from '../../../src/eventstore/log/copy/copy.ts'
import { openAdapter } from '../../../src/eventstore/log/open-log.ts'
import { openCheckpoint } from '../../../src/server/proof/checkpoint.ts'
import { copyTree } from '../../../src/server/proof/copy-tree.ts'
import { parseEntry } from '../../../src/server/proof/entry.ts'
import { leafHash, rootByInclusion } from '../../../src/server/proof/tree.ts'
import { type Caller, type Team, callers, newTeam, standingOf } from '../../access/team.ts'
import { onServer } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { type Person, type World, newEmptyWorld, newWorld, signIn } from '../../support/world.ts'
import { audited, leavesIn, signer, untilSigned } from './support.ts'

type Scene = World & { user: Person; team: Team }

const env = { ...audited, SUMMARY_PROVIDER: 'none' }

const test = suite<Scene>('proof: messages of a trace')
test.before(async (scene) => {
  Object.assign(scene, await newWorld({ env }))
  scene.user = await signIn(scene.node)
  scene.team = await newTeam(scene.node, 'team')
})
test.after(({ close }) => close())

type Event = { revision: number; type: string; message?: string; index: number; entry: string; proof: string[] }
type Answer = { size: number; checkpoint?: string; events: Event[] }

const proofsUrl = (url: string) => `${url}/proofs`
const post = (node: Pick<App, 'app'>, token: string | undefined, url: string, payload: object) =>
  node.app.inject({
    method: 'POST',
    url: proofsUrl(url),
    payload,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })

const rootsOf = ({ events, size }: Answer) =>
  events.map(({ entry, index, proof }) => {
    const hashes = proof.map((hash) => Buffer.from(hash, 'base64'))
    return rootByInclusion(leafHash(entry), { index, size }, hashes)!.toString('base64')
  })

/** All proofs lead to the root of the signed checkpoint. */
const assertProven = (answer: Answer) => {
  const head = openCheckpoint(answer.checkpoint!, signer.verifier)
  assert.is(head.size, answer.size)
  assert.equal([...new Set(rootsOf(answer))], [head.root.toString('base64')])
}

/** Asks until a checkpoint covers the events; every answer before says when to ask again. */
const proven = async (node: Pick<App, 'app'>, token: string, url: string, messages: readonly string[]) => {
  const answer = await until(async () => {
    const { statusCode, headers, body } = await post(node, token, url, { messages })
    if (statusCode === 200) return (JSON.parse(body) as { data: Answer }).data
    assert.is(statusCode, 404, body)
    assert.is(headers['retry-after'], '2', body)
    return undefined
  })
  assertProven(answer)
  return answer
}

const told = ({ events }: Answer) => events.map(({ type, message }) => [type, message])
const textOf = (externalId: string, textContent: string) => ({ externalId, role: 'user', textContent })

test('the trace’s first event is proved, then every event that wrote one of the messages, in the order of the log', async ({
  node,
  user,
}) => {
  const { url, id } = await user.newTrace({}, [textOf('a', 'one'), textOf('b', 'two'), textOf('c', 'three')])
  await user.say(url, [textOf('c', 'changed'), textOf('a', 'changed')])
  await user.say(url, [textOf('a', 'b\u0000\ud800 "again"')])
  const answer = await proven(node, user.token, url, ['c', 'a'])
  assert.equal(told(answer), [
    ['TraceCreated', undefined],
    ['MessageAdded', 'a'],
    ['MessageAdded', 'c'],
    ['MessageUpdated', 'c'],
    ['MessageUpdated', 'a'],
    ['MessageUpdated', 'a'],
  ])
  const recorded = await Array.fromAsync(node.service.log.read(`trace-${id}`))
  for (const { revision, entry } of answer.events) {
    const { id, stream, type, metadata, data } = recorded.find((event) => event.revision === BigInt(revision))!
    assert.equal(parseEntry(entry), { id, stream, type, metadata, data })
  }
  assert.equal(told(await proven(node, user.token, url, [])), [['TraceCreated', undefined]])
})

test('with the size of an older checkpoint proofs lead to its tree, which does not cover later events', async ({
  node,
  user,
}) => {
  const { url } = await user.newTrace({}, [textOf('a', 'one')])
  const { size, checkpoint } = await proven(node, user.token, url, ['a'])
  await user.say(url, [textOf('b', 'two'), textOf('c', 'three')])
  await proven(node, user.token, url, ['b'])
  const { data } = JSON.parse((await post(node, user.token, url, { messages: ['a'], size })).body) as { data: Answer }
  assert.equal([data.size, data.checkpoint], [size, undefined])
  assertProven({ ...data, checkpoint: checkpoint! })
  for (const [messages, other] of [
    [['b'], size],
    [['a'], 0],
    [[], 0],
    [['a'], size + 10_000],
  ] as const) {
    const { statusCode, headers } = await post(node, user.token, url, { messages, size: other })
    assert.equal([statusCode, headers['retry-after']], [404, '2'], `${messages.join()} ${other}`)
  }
})

test('unknown messages, and requests that are not as described, are refused', async ({ node, user }) => {
  const { url } = await user.newTrace({}, [textOf('a', 'one')])
  const unknown = await post(node, user.token, url, { messages: ['a', 'none'] })
  assert.equal([unknown.statusCode, unknown.headers['retry-after']], [404, undefined])
  for (const body of [
    {},
    { messages: 'a' },
    { messages: ['a', 'a'] },
    { messages: Array.from({ length: 101 }, (_, i) => `m${i}`) },
    { messages: ['a'], size: -1 },
    { messages: ['a'], size: 1.5 },
    { messages: ['a'], size: '5' },
  ])
    assert.is((await post(node, user.token, url, body)).statusCode, 400, JSON.stringify(body))
})

test('a hundred messages in windows, and more than 8 MiB of entries are refused', async ({ node, user }) => {
  const most = Array.from({ length: 100 }, (_, i) => textOf(`m${i}`, 'x'.repeat(75_000)))
  const { url } = await user.newTrace({}, most)
  const ids = most.map(({ externalId }) => externalId)
  const answer = await proven(node, user.token, url, ids)
  assert.equal(
    answer.events.map(({ message }) => message),
    [undefined, ...ids],
  )
  await user.say(url, [textOf('m99', 'y'.repeat(1_000_000))])
  await proven(node, user.token, url, ['m99'])
  const { statusCode, body } = await post(node, user.token, url, { messages: ids })
  assert.is(statusCode, 400, body.slice(0, 500))
  assert.match(body, 'ask for fewer messages')
})

const expectedOf = (caller: Caller, visibility: string): number => {
  const standing = standingOf(caller)
  if (standing === 'nobody') return 401
  if (standing !== 'stranger') return 200
  return visibility === 'public' ? 403 : 404
}

test('proofs are for members of the namespace only', async ({ node, user, team, database }) => {
  await untilSigned(node, user.token, database)
  for (const visibility of ['private', 'direct', 'public'])
    for (const caller of callers)
      for (const place of ['here', 'elsewhere'] as const) {
        const token = team.tokenOf(caller, place)
        const { statusCode } = await post(node, token, `/v1/traces/former-${visibility}`, { messages: [] })
        assert.is(statusCode, expectedOf(caller, visibility), `${visibility}, ${caller}, ${place}`)
        assert.is((await post(node, token, '/v1/traces/none', { messages: [] })).statusCode, 404, caller)
      }
})

test('of a trace that was created again only the present life is proved', async ({ node, user }) => {
  const { url, externalId } = await user.newTrace({}, [textOf('a', 'the first life'), textOf('b', 'the first life')])
  await proven(node, user.token, url, ['a'])
  await user.send('DELETE', url)
  assert.is((await post(node, user.token, url, { messages: [] })).statusCode, 404)
  await user.newTrace({}, [textOf('a', 'the second life')], externalId)
  const answer = await proven(node, user.token, url, ['a'])
  assert.equal(told(answer), [
    ['TraceCreated', undefined],
    ['MessageAdded', 'a'],
  ])
  assert.not.match(JSON.stringify(answer), 'the first life')
  assert.is((await post(node, user.token, url, { messages: ['b'] })).statusCode, 404)
})

test('after an erasure of its past the trace begins with that, and its messages with what they were then', async ({
  node,
  user,
}) => {
  const { url } = await user.newTrace({}, [textOf('a', 'a secret'), textOf('b', 'b')])
  const { size } = await proven(node, user.token, url, ['a'])
  await user.say(url, [textOf('a', 'no more')])
  await user.send('POST', `${url}/history/erase`)
  await user.say(url, [textOf('a', 'changed after it')])
  const answer = await proven(node, user.token, url, ['a'])
  assert.equal(told(answer), [
    ['HistoryErased', undefined],
    ['MessageRestated', 'a'],
    ['MessageUpdated', 'a'],
  ])
  assert.not.match(JSON.stringify(answer), 'a secret')
  assert.is((await post(node, user.token, url, { messages: ['a'], size })).statusCode, 404)
})

test('an event that differs from its leaf is not proved', async ({ node, user, database }) => {
  const { url, id } = await user.newTrace({}, [textOf('a', 'one')])
  await proven(node, user.token, url, ['a'])
  await onServer(database.url, `update tracebook.leaves set hash = sha256('x') where stream = $1 and revision = 1`, [
    `trace-${id}`,
  ])
  assert.is((await post(node, user.token, url, { messages: ['a'] })).statusCode, 503)
  assert.is((await post(node, user.token, url, { messages: [] })).statusCode, 200)
})

/** Smaller than one of the events, which is stored in chunks there, so that the revisions of a copy are others. */
const IN_CHUNKS = '&maxAppendBytes=700000'

test('from a log in EventStoreDB, and from its copy in PostgreSQL, the same events are proved by the same tree', async () => {
  const double = await startDouble()
  const [first, second] = [await newEmptyWorld({ env }), await newEmptyWorld({ env })]
  try {
    const url = `${double.url}${IN_CHUNKS}`
    const source = await first.openNode({ env: { EVENTSTORE_URL: url } })
    const { token, say, send, newTrace } = await signIn(source)
    const long = 'x'.repeat(1_500_000)
    const trace = await newTrace({}, [textOf('a', 'a secret'), textOf('b', `${long} secret`), textOf('c', 'c')])
    await say(trace.url, [textOf('a', 'a'), textOf('b', long)])
    await send('POST', `${trace.url}/history/erase`)
    await say(trace.url, [textOf('c', 'changed'), textOf('b', `${long} changed`)])
    const there = await proven(source, token, trace.url, ['a', 'b', 'c'])
    assert.equal(told(there), [
      ['HistoryErased', undefined],
      ['MessageRestated', 'a'],
      ['MessageRestated', 'b'],
      ['MessageRestated', 'c'],
      ['MessageUpdated', 'c'],
      ['MessageUpdated', 'b'],
    ])
    const { length } = await leavesIn(first.database)
    await source.close()

    const [from, to] = [await openAdapter(url), await openAdapter(second.database.url)]
    await copyLog({ from, to })
    await Promise.all([from.close(), to.close()])
    assert.is(await copyTree(first.database.url, second.database.url), length)
    const copy = await second.openNode()
    await until(async () => (await copy.service.readiness()).missing.length === 0)
    const here = await proven(copy, token, trace.url, ['a', 'b', 'c'])
    assert.equal(
      here.events.map(({ entry, index }) => [entry, index]),
      there.events.map(({ entry, index }) => [entry, index]),
    )
  } finally {
    await Promise.all([first.close(), second.close()])
    await double.stop()
  }
})

test.run()
