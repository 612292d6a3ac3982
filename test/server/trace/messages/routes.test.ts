import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../../support/world.ts'

const test = suite('trace/messages/routes')

const clock = { now: Date.now }
const { node } = await openWorld(test, { now: () => clock.now() })

const deviceId = randomUUID()
const { token, ask, send } = await signIn(node, deviceId)

test('a message may be twice in a batch, also if the second one restores the stored message', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, {})
  const send = async (...texts: string[]) => {
    const messages = texts.map((textContent) => ({ externalId: 'm', role: 'user', textContent }))
    const { data } = await ask('POST', `${url}/messages/batch`, { messages })
    return (data as { messages?: { result: string }[] }).messages?.map(({ result }) => result)
  }
  assert.equal(await send('a'), ['created'])
  node.service.traces.clear() // so that the message is known by its head alone
  assert.equal(await send('b', 'a'), ['updated', 'updated'])
  node.service.traces.clear()
  assert.equal(await send('a', 'a'), ['unchanged', 'unchanged'])
  node.service.traces.clear()
  assert.equal(await send('a', 'b', 'b', 'a', 'a'), ['unchanged', 'updated', 'unchanged', 'updated', 'unchanged'])
})

test('the answer has the recorded times of a message, also if a clock was ahead', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, {})
  const ahead = Date.now() + 366 * 24 * 60 * 60 * 1_000
  clock.now = () => ahead
  const { data } = await (await signIn(node, deviceId)).ask('PATCH', url, { title: 'Ahead' })
  clock.now = Date.now
  type Times = { createdAt: number; updatedAt: number }
  assert.is((data as { trace: Times }).trace.updatedAt, ahead)
  for (const textContent of ['a', 'b']) {
    const put = await ask('PUT', `${url}/messages/m`, { role: 'user', textContent })
    const { createdAt, updatedAt } = (put.data as { message: Times }).message
    assert.equal([createdAt, updatedAt], [ahead, ahead])
    const { data } = await ask('GET', `${url}/messages`)
    assert.equal((data as { messages: Times[] }).messages[0]!.updatedAt, updatedAt)
  }
})

test('a tool beyond 500 is counted as other, and by its name once there is room, in every answer', async () => {
  const externalId = randomUUID()
  const url = `/v1/traces/${externalId}`
  await ask('PUT', url, {})
  const send = async (id: string, ...tools: string[]) => {
    const parts = tools.map((toolName) => ({ type: 'tool_call', content: { callId: 'c', toolName, args: {} } }))
    const answer = await ask('PUT', `${url}/messages/${id}`, { role: 'assistant', parts })
    assert.is(answer.status, 200)
  }
  type Counted = { trace: { toolTypeCounts: Record<string, number> } }
  const counts = async () => {
    const { revision } = await listOf(url)
    const asked = { query: 'traces:get', args: { externalId, authToken: token } }
    const patched = await ask('PATCH', url, {})
    const [now, then, live] = await Promise.all([
      ask('GET', url),
      ask('GET', `${url}?revision=${revision}`),
      node.call('POST', '/v1/query', { body: asked }),
    ])
    const all = [patched, now, then].map(({ data }) => (data as Counted).trace.toolTypeCounts)
    all.push((live.data as { value: Counted['trace'] }).value.toolTypeCounts)
    for (const one of all) assert.equal(one, all[0])
    return all[0]!
  }
  const full = Array.from({ length: 500 }, (_, i) => `t${i}`)
  await send('full', ...full)
  await send('late', 'late', 'late', 't0')
  const { other, late, t0 } = await counts()
  assert.equal([other, late, t0], [2, undefined, 2])
  node.service.traces.clear() // so that the counts are those of the read models
  await send('full', ...full.slice(0, 499))
  const roomier = await counts()
  assert.equal([roomier.other, roomier.late, Object.keys(roomier).length], [undefined, 2, 500])
  await send('late', 'late')
  assert.is((await counts()).late, 1)
})

type List = { messages: { externalId: string }[]; revision: number; nextCursor?: string }
const listOf = async (url: string, query = '') => {
  const { data } = await ask('GET', `${url}/messages${query}`)
  const { messages, ...rest } = data as List
  return { ids: messages.map(({ externalId }) => externalId), ...rest }
}
const batch = async (url: string, messages: object[]) => await send('POST', `${url}/messages/batch`, { messages })

test('around a message a page has half as many before it, and goes on with its cursor', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, {})
  // The order decides, then what has none of it.
  const some = [{ order: 5 }, { order: 1 }, { order: 3 }, {}, { timestamp: 7 }]
  await batch(
    url,
    some.map((keys, i) => ({ externalId: `m${i}`, role: 'user', textContent: '', ...keys })),
  )
  const all = ['m1', 'm2', 'm0', 'm4', 'm3']
  for (const [i, id] of all.entries()) {
    assert.equal((await listOf(url, `?around=${id}&limit=2`)).ids, all.slice(Math.max(0, i - 1)).slice(0, 2), id)
    assert.equal((await listOf(url, `?around=${id}&limit=1`)).ids, [id])
    assert.equal((await listOf(url, `?around=${id}`)).ids, all, 'without a limit')
  }
  const { nextCursor } = await listOf(url, '?around=m0&limit=2')
  assert.equal((await listOf(url, `?limit=2&cursor=${nextCursor}`)).ids, ['m4', 'm3'])
  const statusOf = async (query: string) => (await ask('GET', `${url}/messages?${query}`)).status
  assert.is(await statusOf('around=nowhere'), 404)
  for (const other of [`cursor=${nextCursor}`, 'changedSince=1', 'revision=1', 'at=1'])
    assert.is(await statusOf(`around=m0&${other}`), 400, other)
})

test('with changedSince a list has the messages that have changed, in its own order, page by page', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, {})
  assert.equal(await listOf(url), { ids: [], revision: 0 })
  await batch(
    url,
    ['a', 'b', 'c', 'd'].map((externalId, i) => ({ externalId, role: 'user', order: 10 - i })),
  )
  const { ids, revision } = await listOf(url)
  assert.equal(ids, ['d', 'c', 'b', 'a'])
  await batch(url, [
    { externalId: 'e', role: 'user', order: 1 },
    { externalId: 'a', role: 'user', textContent: 'changed' },
    { externalId: 'c', role: 'user', textContent: 'changed' },
    { externalId: 'd', role: 'user', order: 7 }, // as it was
  ])
  const changed = await listOf(url, `?changedSince=${revision}`)
  assert.equal(changed.ids, ['e', 'c', 'a'])
  assert.ok(changed.revision > revision)
  assert.equal(await listOf(url, `?changedSince=${changed.revision}`), { ids: [], revision: changed.revision })
  const first = await listOf(url, `?changedSince=${revision}&limit=2`)
  assert.equal(first.ids, ['e', 'c'])
  const second = await listOf(url, `?changedSince=${revision}&limit=2&cursor=${first.nextCursor}`)
  assert.equal(second, { ids: ['a'], revision: changed.revision })
  assert.equal(await listOf(url, `?limit=0`), { ids: [], revision: changed.revision })
  assert.equal((await listOf(url, '?changedSince=0')).ids, ['e', 'd', 'c', 'b', 'a'])
  assert.equal((await listOf(url, '?changedSince=9007199254740991')).ids, [])
})

/** Reads pages of one message, and changes a message of the first page before the second; gives ids and revisions of the pages. */
const pagesWithChange = async (url: string, query: string, changed: object) => {
  const pages: Awaited<ReturnType<typeof listOf>>[] = []
  let cursor = ''
  do {
    pages.push(await listOf(url, `?limit=1${query}${cursor}`))
    if (pages.length === 1) await batch(url, [changed])
    const { nextCursor } = pages.at(-1)!
    cursor = nextCursor === undefined ? '' : `&cursor=${nextCursor}`
  } while (cursor)
  return { ids: pages.flatMap(({ ids }) => ids), revisions: pages.map(({ revision }) => revision) }
}

for (const [what, textContent, query] of [
  ['a short list', 'short', ''],
  ['a long list', 'x'.repeat(200_000), ''],
  ['what has changed', 'short', '&changedSince=0'],
] as const) {
  test(`all pages of ${what} have the revision of the first one, from which a change between two pages is found`, async () => {
    const url = `/v1/traces/${randomUUID()}`
    await ask('PUT', url, {})
    const message = { role: 'user', textContent }
    await batch(
      url,
      ['a', 'b', 'c'].map((externalId, order) => ({ ...message, externalId, order })),
    )
    const { revision } = await listOf(url, '?limit=0')
    const pages = await pagesWithChange(url, query, { ...message, externalId: 'a', textContent: 'changed' })
    assert.equal(pages, { ids: ['a', 'b', 'c'], revisions: [revision, revision, revision] })
    assert.equal((await listOf(url, `?changedSince=${revision}`)).ids, ['a'])
  })
}

test('an empty page after a cursor has the same revision as the page before', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, {})
  await batch(
    url,
    ['a', 'b'].map((externalId) => ({ externalId, role: 'user' })),
  )
  const { nextCursor, revision } = await listOf(url, '?limit=1')
  await batch(url, [{ externalId: 'a', role: 'user', textContent: 'changed' }])
  assert.is((await listOf(url, `?limit=0&cursor=${nextCursor}`)).revision, revision)
})

test('an invalid revision is refused', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, {})
  for (const given of ['', '-1', '1.5', 'x', '99999999999999999999']) {
    const { status } = await ask('GET', `${url}/messages?changedSince=${given}`)
    assert.is(status, 400, given)
  }
})

test('a long list has its revision as well, and can be continued from it', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, {})
  const textContent = 'x'.repeat(100_000)
  for (let round = 0; round < 3; round++) {
    const messages = Array.from({ length: 40 }, (_, i) => ({ externalId: `${round}-${i}`, role: 'user', textContent }))
    await batch(url, messages)
  }
  const { ids, revision } = await listOf(url)
  assert.is(ids.length, 120)
  await batch(url, [{ externalId: '1-7', role: 'user', textContent: 'changed' }])
  const changed = await listOf(url, `?changedSince=${revision}`)
  assert.equal(changed.ids, ['1-7'])
  assert.equal((await listOf(url, '?changedSince=0')).ids.length, 120)
  assert.is((await listOf(url)).revision, changed.revision)
})

test('an answer has an ETag until it changes, for those who may read it', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask('PUT', url, { visibility: 'public' })
  await batch(url, [{ externalId: 'a', role: 'user' }])
  const { token: stranger } = await signIn(node)
  const get = (path: string, etag: string, bearer?: string) => {
    const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    return node.app.inject({ url: path, headers: { ...authorization, 'if-none-match': etag } })
  }
  for (const path of [url, `${url}/messages`, `${url}/messages?limit=1`]) {
    const { headers } = await get(path, '"another"', token)
    const etag = String(headers.etag)
    assert.is(headers['cache-control'], 'private, no-cache')
    const known = await get(path, `"x", W/${etag}`, token)
    assert.equal([known.statusCode, known.body, known.headers.etag], [304, '', etag])
    assert.is((await get(path, etag)).statusCode, 304)
    await batch(url, [{ externalId: 'a', role: 'user', textContent: path }])
    const changed = await get(path, etag, token)
    assert.is(changed.statusCode, 200)
    assert.is.not(changed.headers.etag, etag)
    await ask('PATCH', url, { visibility: 'private' })
    assert.is((await get(path, '*')).statusCode, 401)
    assert.is((await get(path, '*', stranger)).statusCode, 404)
    await ask('PATCH', url, { visibility: 'public' })
  }
})

test.run()
