import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { eventsOf, notedIn } from '../erasure/support.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { bodyOf, callerOf } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { equalAfterRebuild, openHistory } from './support.ts'

const test = suite('history: an erased past')

const { database, node, openNode, user } = await openHistory(test, { AUDIT_PUBLIC: 'on' })
const { ask, send, newTrace } = user
const textAt = (url: string) => bodyOf(user.get(url))

type Entry = { type: string; revision: number; at: number; text: string; erased?: number; actor?: { userId: string } }

const post = (url: string, messages: readonly object[]) =>
  send<{ created: number }>('POST', `${url}/messages/batch`, { messages })
const textOf = (externalId: string, text: string) => ({
  externalId,
  role: 'assistant',
  timestamp: 1_700_000_000_000,
  parts: [
    { type: 'text', content: { text } },
    { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args: { text } } },
  ],
})

/** A trace that said `secret` and says it no more; gives its URL and id. */
const lived = async (secret: string, messages = 3) => {
  const { url, id } = await newTrace({ title: secret })
  await post(
    url,
    Array.from({ length: messages }, (_, i) => textOf(`m${i}`, `${secret} ${i}`)),
  )
  await post(
    url,
    Array.from({ length: messages }, (_, i) => textOf(`m${i}`, `said ${i}`)),
  )
  await send('PATCH', url, { title: 'kept' })
  return { url, id }
}

const shown = async (url: string) => [
  await textAt(url),
  (await textAt(`${url}/messages?includeParts=true`)).replace(/"revision":\d+/, ''),
]
const erase = (url: string) => send<{ revision: number; erased: number }>('POST', `${url}/history/erase`)
const timeline = async (url: string) => (await send<{ events: Entry[] }>('GET', `${url}/events`)).events
const ofNamespace = async (query = '') =>
  (await send<{ events: Entry[] }>('GET', `/v1/namespaces/${user.namespaceSlug}/events?limit=1000${query}`)).events
const isErased = () => until(async () => (await notedIn(database)).length === 0)

test('the present stays, the past is gone from the log and the read models, and a rebuild gives the same rows', async () => {
  const secret = `w${randomUUID()}`
  const { url, id } = await lived(secret)
  const before = await shown(url)
  const entries = await ofNamespace()
  const { revision, erased } = await erase(url)
  assert.is(erased, 9)
  assert.equal(await shown(url), before)
  assert.equal((await timeline(url)).map(({ type, revision, erased }) => [type, revision, erased]), [['HistoryErased', revision, 9]]) // prettier-ignore
  const bare = ({ type, at, actor, revision }: Entry) => [type, at, actor?.userId, revision]
  const [last, ...rest] = await ofNamespace()
  assert.is(last!.type, 'HistoryErased')
  assert.equal(rest.map(bare), entries.map(bare))
  assert.not.match(JSON.stringify(rest), secret)
  for (const past of [0, 5, revision - 1]) {
    assert.is((await ask('GET', `${url}?revision=${past}`)).status, 404)
    assert.is((await ask('GET', `${url}/messages?revision=${past}`)).status, 404)
    assert.is((await ask('GET', `${url}/events/${past}`)).status, 404)
    assert.is((await ask('GET', `${url}/diff?from=${past}`)).status, 404)
    const { messages } = await send<{ messages: unknown[] }>('GET', `${url}/messages?changedSince=${past}`)
    assert.is(messages.length, 3)
  }
  const { messages } = await send<{ messages: unknown[] }>('GET', `${url}/messages?changedSince=${revision}`)
  assert.is(messages.length, 0)
  await isErased()
  assert.equal(await eventsOf(node, id), [...Array.from({ length: 3 }, () => 'MessageRestated'), 'HistoryErased'])
  for (const group of groups) assert.not.match(JSON.stringify(await dumpSchema(database.url, schemaOf(group))), secret)
  await equalAfterRebuild(database, node)
  assert.equal(await shown(url), before)
  assert.equal(await erase(url), { revision, erased: 0 })
})

test('a trace can be written, changed, erased again and deleted afterwards', async () => {
  const secret = `w${randomUUID()}`
  const { url, id } = await lived(secret)
  const { revision } = await erase(url)
  await post(url, [textOf('m1', 'said anew'), textOf('m3', 'more')])
  const middle = await shown(url)
  const past = await textAt(`${url}/messages?includeParts=true&revision=${revision}`)
  assert.match(past, 'said 1')
  assert.not.match(past, 'said anew')
  await send('PATCH', url, { gitBranch: 'main' })
  const again = await erase(url)
  assert.is(again.erased, 5)
  const [detail, messages] = await shown(url)
  assert.is(messages, middle[1])
  assert.match(detail!, '"gitBranch":"main"')
  const types = (await ofNamespace(`&order=asc&trace=${url.split('/').at(-1)}`)).map(({ type }) => type)
  assert.equal(types, ['TraceCreated', 'MessagesUpserted', 'MessagesUpserted', 'TraceUpdated', 'HistoryErased', 'MessagesUpserted', 'TraceUpdated', 'HistoryErased']) // prettier-ignore
  await isErased()
  await equalAfterRebuild(database, node)
  await send('DELETE', url)
  assert.equal(
    (await ofNamespace(`&trace=${url.split('/').at(-1)}`)).map(({ type }) => type),
    ['TraceDeleted'],
  )
  await isErased()
  assert.equal(await eventsOf(node, id), ['TraceDeleted'])
  await equalAfterRebuild(database, node)
})

test('a trace that was deleted before keeps its record of the deletion', async () => {
  const { url, id } = await lived('first')
  await send('DELETE', url)
  await send('PUT', url, { title: 'again' })
  await send('PATCH', url, { title: 'and again' })
  await erase(url)
  await isErased()
  assert.equal(await eventsOf(node, id), ['HistoryErased'])
  const deletions = (entries: readonly Entry[]) => entries.filter(({ type }) => type === 'TraceDeleted').length
  const before = deletions(await ofNamespace())
  assert.ok(before > 0)
  assert.equal(
    (await timeline(url)).map(({ type }) => type),
    ['HistoryErased'],
  )
  await equalAfterRebuild(database, node)
  assert.is(deletions(await ofNamespace()), before)
  await send('DELETE', url)
  assert.is((await ask('PUT', `${url}?unlessDeleted=true`, {})).status, 410)
  assert.is(deletions(await ofNamespace()), before + 1)
})

test('a trace that is larger than an append is erased in several, and is shown whole all the time', async () => {
  const url = `/v1/traces/${randomUUID()}`
  const { trace } = await send<{ trace: { id: string } }>('PUT', url, {})
  const long = (i: number, text: string) => textOf(`m${i}`, text.repeat(500_000))
  for (let i = 0; i < 10; i++) await post(url, [long(i, 'ab')])
  await post(url, [long(3, 'cd'), textOf('last', 'end')])
  const before = await shown(url)
  const erasing = erase(url)
  let over = false
  const { log } = node.service
  const looking = (async () => {
    while (!over) {
      const head = await log.head()
      const now = await shown(url).catch(() => undefined) // a list that is being sent ends with the past
      if (now) assert.equal(now, before)
      await until(async () => over || (await log.head()) !== head) // one look after each append: the erasure has to get on, too
    }
  })()
  const { revision } = await erasing
  over = true
  await looking
  assert.equal(await shown(url), before)
  const appends = new Set<string>()
  for await (const { type, metadata } of node.service.log.read(`trace-${trace.id}`))
    if (type === 'MessageRestated' || type === 'HistoryErased')
      appends.add((JSON.parse(metadata) as { append: { id: string } }).append.id)
  assert.ok(appends.size > 2, `${appends.size} appends`)
  await isErased()
  assert.is((await eventsOf(node, trace.id)).length, 12)
  await post(url, [long(5, 'ef')])
  assert.match(await textAt(`${url}/messages?includeParts=true&revision=${revision}&limit=6`), 'abab')
  await equalAfterRebuild(database, node)
})

test('a write on another node restarts the erasure, and is not lost', async () => {
  const other = await openNode({ env: { ROLES: 'api,projector' } })
  const { url } = await lived(`w${randomUUID()}`, 200)
  const there = callerOf(other, user.token)
  const written = 20
  let isOver = false
  const writing = (async () => {
    for (let i = 0; i < written; i++) {
      const body = { messages: [textOf(`w${i}`, `words ${i}`)] }
      // On a busy machine the read models of the other node may be late: a repetition changes nothing.
      await until(async () => (await there.ask('POST', `${url}/messages/batch`, body)).status === 200)
    }
  })().finally(() => (isOver = true))
  const erasing = (async () => {
    do await erase(url)
    while (!isOver)
  })()
  await Promise.all([writing, erasing])
  await erase(url)
  await node.service.visible(await node.service.log.head())
  const { messages } = await send<{ messages: { externalId: string }[] }>('GET', `${url}/messages`)
  const found = messages.map(({ externalId }) => externalId).filter((id) => id.startsWith('w'))
  assert.equal(found.sort(), Array.from({ length: written }, (_, i) => `w${i}`).sort())
  const [first, ...rest] = (await timeline(url)).map(({ type }) => type)
  assert.equal([first, rest.includes('HistoryErased')], ['HistoryErased', false])
})

test('a repeated request waits for the erasure that has begun, and starts no second one after writes between them', async () => {
  const { url } = await lived('a secret that is asked for twice')
  const [first, sent, second] = await Promise.all([erase(url), post(url, [textOf('m9', 'between')]), erase(url)])
  assert.is(sent.created, 1)
  assert.equal(second, first)
  assert.is((await ask('POST', `${url}/history/erase`)).status, 200)
})

test('restated messages that were never completed show nowhere, and go with the next erasure', async () => {
  const { url, id } = await lived('abandoned')
  const before = await shown(url)
  const { log, codec } = node.service
  const stream = `trace-${id}`
  const end = async () => (await log.last(stream))!.revision
  const since = Number((await end()) + 1n)
  const fields = { externalId: 'm0', ordinal: 0, role: 'user', class: 'user_message', tools: [], parts: [] } as const
  const namespaceId = user.namespaceId
  const event = { type: 'MessageRestated', data: { ...fields, namespaceId, createdAt: 1, updatedAt: 1, since } }
  const { data, schemaVersion } = codec.encode(event)
  const metadata = { at: Date.now(), schema: schemaVersion, append: { id: randomUUID(), index: 0, size: 1 } }
  const left = { id: randomUUID(), type: event.type, data, metadata: JSON.stringify(metadata) }
  const { position } = await log.append(stream, await end(), [left])
  await node.service.visible(position)
  assert.equal(await shown(url), before)
  assert.is((await timeline(url)).length, 4)
  await send('GET', `${url}?revision=${since}`)
  await equalAfterRebuild(database, node)
  await post(url, [textOf('m0', 'said 0')])
  await send('PATCH', url, { title: 'kept' })
  await erase(url)
  await isErased()
  await equalAfterRebuild(database, node)
  assert.is((await eventsOf(node, id)).length, 4)
})

test.run()
