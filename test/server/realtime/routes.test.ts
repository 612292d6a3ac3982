import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { type Client, connect } from './support.ts'

const test = suite('realtime: over a socket')
const { node: app, openNode } = await openWorld(test, {
  env: {
    CORS_ORIGINS: 'https://app.example.com',
    REALTIME_SUBSCRIPTIONS: '5',
    REALTIME_CONNECTIONS_SESSION: '2',
  },
})
const other = await openNode()
const here = { host: '127.0.0.1', port: 0 }
const [origin, others] = [await app.app.listen(here), await other.app.listen(here)]
let clients: Client[] = []

test.after.each(() => {
  for (const client of clients) client.end()
  clients = []
})

const open = async (at = origin, headers?: Record<string, string>) => {
  const client = await connect(at, headers)
  clients.push(client)
  return client
}

const put = (token: string, externalId: string, body: object, node = app) =>
  node.call('PUT', `/v1/traces/${externalId}`, { token, body })

const message = (text: string) => ({ role: 'user', textContent: text })

type Shown = { readonly title?: string; readonly revision: number } | null
const titlesOf = (client: Client, id: string) => client.values(id).map((value) => (value as Shown)?.title ?? null)

test('a trace is shown at once, after each change, and as null once it may not be read', async () => {
  const { token } = await signIn(app)
  await put(token, 'one', { title: 'A', visibility: 'public' })
  const client = await open()
  client.subscribe('s', 'traces:get', { externalId: 'one' })
  await until(() => client.values('s').length === 1)
  await put(token, 'one', { title: 'B', visibility: 'public' })
  await until(() => client.values('s').length === 2)
  await put(token, 'one', { visibility: 'private' })
  await until(() => client.values('s').length === 3)
  await put(token, 'one', { title: 'C', visibility: 'private' })
  await put(token, 'one', { visibility: 'public' })
  await until(() => client.values('s').at(-1) !== null)
  assert.equal(titlesOf(client, 's'), ['A', 'B', null, 'C'])
})

test('a write on another node is shown as well, and losing a right there ends what is shown here', async () => {
  const { token } = await signIn(app)
  await put(token, 'far', { title: 'A' })
  const client = await open(others)
  client.subscribe('s', 'traces:get', { externalId: 'far', authToken: token })
  await until(() => client.values('s').length === 1)
  await put(token, 'far', { title: 'B' })
  await until(() => client.values('s').length === 2)
  await app.call('DELETE', '/v1/session', { token })
  await until(() => client.values('s').length === 3)
  assert.equal(titlesOf(client, 's'), ['A', 'B', null])
})

test('the feed of a namespace needs a token, and is null from the moment that it is revoked', async () => {
  const { token } = await signIn(app)
  await put(token, 'listed', { title: 'Mine' })
  const client = await open()
  client.subscribe('none', 'feed:getNamespaceTraces')
  client.subscribe('wrong', 'feed:getNamespaceTraces', { authToken: 'tb_wrong' })
  client.subscribe('mine', 'feed:getNamespaceTraces', { authToken: token, limit: 1 })
  await until(() => ['none', 'wrong', 'mine'].every((id) => client.values(id).length === 1))
  assert.equal([client.values('none'), client.values('wrong')], [[null], [null]])
  const [first] = client.values('mine') as { title: string }[][]
  assert.equal(
    first!.map(({ title }) => title),
    ['Mine'],
  )
  await app.call('DELETE', '/v1/session', { token })
  await until(() => client.values('mine').at(-1) === null)
})

test('a named namespace is shown to its members, from the moment that they join until they are removed', async () => {
  const [owner, reader] = [await signIn(app), await signIn(app)]
  const slug = 'a-named-team'
  await owner.newTeam(slug)
  const inTeam = (id: string) =>
    app.call('PUT', `/v1/traces/${id}?namespace=${slug}`, { token: owner.token, body: { title: id } })
  await inTeam('first')
  const client = await open()
  const args = { limit: 5, children: false, namespace: slug }
  client.subscribe('reader', 'feed:getNamespaceTraces', { ...args, authToken: reader.token })
  client.subscribe('nobody', 'feed:getNamespaceTraces', args)
  client.subscribe('absent', 'feed:getNamespaceTraces', { ...args, namespace: 'no such', authToken: owner.token })
  const shown = (id: string) => {
    const traces = client.values(id).at(-1) as { title: string }[] | null | undefined
    return traces ? traces.map(({ title }) => title).join() : traces
  }
  await until(() => ['reader', 'nobody', 'absent'].every((id) => shown(id) === null))
  await owner.admit(slug, reader)
  await until(() => shown('reader') === 'first')
  await inTeam('second')
  await until(() => shown('reader') === 'second,first')
  await app.call('DELETE', `/v1/namespaces/${slug}/members/${reader.userId}`, { token: owner.token })
  await until(() => shown('reader') === null)
  assert.equal([shown('nobody'), shown('absent')], [null, null])
})

test('a feed without sub-agents has their number at their parent, as they come, go, and stand by themselves', async () => {
  const { token } = await signIn(app)
  const client = await open()
  const args = { limit: 5, children: false }
  await put(token, 'above', { visibility: 'public' })
  client.subscribe('mine', 'feed:getNamespaceTraces', { ...args, authToken: token })
  client.subscribe('public', 'feed:getPublicTraces', args)
  const newest = (id: string) => {
    const [first] = (client.values(id).at(-1) ?? []) as { externalId: string; childCount: number }[]
    return `${first?.externalId} ${first?.childCount}`
  }
  const bothShow = (text: string) => until(() => newest('mine') === text && newest('public') === text)
  await bothShow('above 0')
  await put(token, 'beneath', { visibility: 'public', parentExternalId: 'above' })
  await bothShow('above 1')
  await app.call('DELETE', '/v1/traces/beneath', { token })
  await bothShow('above 0')
  await put(token, 'other', { visibility: 'public', parentExternalId: 'above' })
  await bothShow('above 1')
  await app.call('DELETE', '/v1/traces/above', { token })
  await bothShow('other 0')
})

test('messages come with the revision of their trace', async () => {
  const { token } = await signIn(app)
  await put(token, 'talk', { visibility: 'public' })
  const client = await open()
  client.subscribe('s', 'traces:getMessages', { externalId: 'talk', includeParts: true })
  await until(() => client.values('s').length === 1)
  await app.call('PUT', '/v1/traces/talk/messages/m', { token, body: message('hello') })
  await until(() => client.values('s').length === 2)
  const [empty, one] = client.values('s') as { messages: { textContent: string }[]; revision: number }[]
  assert.equal([empty!.messages, one!.messages.map(({ textContent }) => textContent)], [[], ['hello']])
  assert.ok(one!.revision > empty!.revision)
})

type Change = { messages: { externalId: string; textContent?: string }[]; revision: number } | null
const changesOf = (client: Client, id: string) => client.values(id) as Change[]

/** What a client has that applies each value to what it had. */
const merged = (changes: readonly Change[]) => {
  const texts = new Map<string, string | undefined>()
  for (const change of changes) {
    if (change === null) texts.clear()
    for (const { externalId, textContent } of change?.messages ?? []) texts.set(externalId, textContent)
  }
  return texts
}
const batch = (token: string, externalId: string, messages: object[], node = app) =>
  node.call('POST', `/v1/traces/${externalId}/messages/batch`, { token, body: { messages } })
const revisionOf = async (token: string, externalId: string) =>
  ((await app.call('GET', `/v1/traces/${externalId}/messages`, { token })).data as { revision: number }).revision

test('with changedSince only new messages come, at first and after each change', async () => {
  const { token } = await signIn(app)
  await put(token, 'live', {})
  await batch(token, 'live', [{ externalId: 'a', ...message('1') }])
  const changedSince = await revisionOf(token, 'live')
  await batch(token, 'live', [{ externalId: 'b', ...message('1') }])
  const client = await open()
  client.subscribe('s', 'traces:getMessages', { externalId: 'live', authToken: token, changedSince })
  const ids = () => changesOf(client, 's').map((change) => change!.messages.map(({ externalId }) => externalId))
  await until(() => ids().length === 1)
  await batch(token, 'live', [{ externalId: 'c', ...message('1') }], other)
  await until(() => ids().length === 2)
  await put(token, 'live', { title: 'nothing of its messages' })
  await batch(token, 'live', [{ externalId: 'a', ...message('2') }])
  await until(() => ids().length === 3)
  assert.equal(ids(), [['b'], ['c'], ['a']])
  assert.is(changesOf(client, 's').at(-1)!.revision, await revisionOf(token, 'live'))
})

test('with changedSince an unchanged list is empty, and one of another incarnation comes whole after null', async () => {
  const { token } = await signIn(app)
  await put(token, 'again', {})
  await batch(token, 'again', [{ externalId: 'a', ...message('first life') }])
  const client = await open(others)
  const changedSince = await revisionOf(token, 'again')
  client.subscribe('s', 'traces:getMessages', { externalId: 'again', authToken: token, changedSince })
  await until(() => changesOf(client, 's').length === 1)
  assert.equal(changesOf(client, 's')[0]!.messages, [])
  for (const round of ['second', 'third']) {
    await app.call('DELETE', '/v1/traces/again', { token })
    await put(token, 'again', {})
    await batch(token, 'again', [{ externalId: 'b', ...message(round) }])
    await until(() => merged(changesOf(client, 's')).get('b') === round)
    assert.ok(changesOf(client, 's').includes(null))
    assert.not(merged(changesOf(client, 's')).has('a'))
  }
})

test('when the past of a trace is erased, its messages come again, and are not gone', async () => {
  const { token } = await signIn(app)
  const externalId = 'erased'
  const trace = { externalId, authToken: token }
  for (const wasDeleted of [false, true]) {
    if (wasDeleted) await app.call('DELETE', `/v1/traces/${externalId}`, { token })
    await put(token, externalId, {})
    const first = ['a', 'b'].map((externalId) => ({ externalId, ...message('1') }))
    await batch(token, externalId, first)
    const changedSince = await revisionOf(token, externalId)
    const client = await open(others)
    /** The ids of the changed messages in each value of a subscription, once it shows the present revision. */
    const changesUntilNow = async (id: string) => {
      const revision = await revisionOf(token, externalId)
      await until(() => changesOf(client, id).at(-1)?.revision === revision)
      return changesOf(client, id).map((change) => change?.messages.map(({ externalId }) => externalId))
    }
    client.subscribe('live', 'traces:getMessages', { ...trace, changedSince })
    await changesUntilNow('live')
    await app.call('POST', `/v1/traces/${externalId}/history/erase`, { token, body: {} })
    await changesUntilNow('live')
    await batch(token, externalId, [{ externalId: 'c', ...message('1') }])
    assert.equal(await changesUntilNow('live'), [[], ['a', 'b'], ['c']])

    // If a trace was deleted before, nothing is left that tells whether that was before or after the client's revision.
    const whole = ['a', 'b', 'c']
    const expected = wasDeleted ? [undefined, whole] : [whole]
    const { traceId } = client.values('live')[0] as { traceId: string }
    client.subscribe('later', 'traces:getMessages', { ...trace, changedSince })
    client.subscribe('named', 'traces:getMessages', { ...trace, changedSince, traceId })
    assert.equal([await changesUntilNow('later'), await changesUntilNow('named')], [expected, expected])
    const body = { query: 'traces:getMessages', args: { ...trace, changedSince } }
    const { value } = (await app.call('POST', '/v1/query', { body })).data as { value: Change }
    assert.equal(
      value?.messages.map(({ externalId }) => externalId),
      expected[0],
    )
  }
})

test('a trace that was deleted and created again before its past was erased is another one', async () => {
  const { token } = await signIn(app)
  await put(token, 'twice', {})
  await batch(token, 'twice', [{ externalId: 'a', ...message('first life') }])
  const changedSince = await revisionOf(token, 'twice')
  await app.call('DELETE', '/v1/traces/twice', { token })
  await put(token, 'twice', {})
  await batch(token, 'twice', [{ externalId: 'b', ...message('second life') }])
  await app.call('POST', '/v1/traces/twice/history/erase', { token, body: {} })
  const client = await open()
  client.subscribe('s', 'traces:getMessages', { externalId: 'twice', authToken: token, changedSince })
  await until(() => changesOf(client, 's').length === 2)
  assert.is(changesOf(client, 's')[0], null)
  assert.equal([...merged(changesOf(client, 's')).keys()], ['b'])
})

test('a client with an unknown revision gets null, then everything', async () => {
  const { token } = await signIn(app)
  await put(token, 'shorter', {})
  await batch(token, 'shorter', [{ externalId: 'a', ...message('1') }])
  const client = await open()
  client.subscribe('s', 'traces:getMessages', { externalId: 'shorter', authToken: token, changedSince: 1_000 })
  await until(() => changesOf(client, 's').length === 2)
  assert.is(changesOf(client, 's')[0], null)
  assert.equal([...merged(changesOf(client, 's')).keys()], ['a'])
})

test('a trace whose name looks like the key of another query is another query', async () => {
  const { token } = await signIn(app)
  await put(token, 'docs', { visibility: 'public' })
  await batch(token, 'docs', [{ externalId: 'mine', ...message('mine') }])
  const changedSince = await revisionOf(token, 'docs')
  const odd = `${changedSince} any docs`
  const other = await signIn(app)
  await put(other.token, encodeURIComponent(odd), { visibility: 'public' })
  await batch(other.token, encodeURIComponent(odd), [{ externalId: 'odd', ...message('odd') }])
  const client = await open()
  client.subscribe('odd', 'traces:getMessages', { externalId: odd, includeParts: true })
  await until(() => client.values('odd').length === 1)
  client.subscribe('s', 'traces:getMessages', { externalId: 'docs', changedSince, includeParts: true })
  await until(() => changesOf(client, 's').length === 1)
  await batch(token, 'docs', [{ externalId: 'later', ...message('later') }])
  await until(() => changesOf(client, 's').length === 2)
  assert.equal([...merged(changesOf(client, 's')).keys()], ['later'])
})

test('a client that names the trace it knows gets null and everything if the name now means another trace', async () => {
  const { token } = await signIn(app)
  await put(token, 'named', {})
  await batch(token, 'named', [{ externalId: 'a', ...message('1') }])
  const changedSince = await revisionOf(token, 'named')
  const client = await open()
  const args = { externalId: 'named', authToken: token, changedSince }
  client.subscribe('other', 'traces:getMessages', { ...args, traceId: '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b' })
  await until(() => changesOf(client, 'other').length === 2)
  assert.equal([changesOf(client, 'other')[0], [...merged(changesOf(client, 'other')).keys()]], [null, ['a']])
  const { traceId } = client.values('other')[1] as { traceId: string }
  client.subscribe('same', 'traces:getMessages', { ...args, traceId })
  await until(() => changesOf(client, 'same').length === 1)
  assert.equal(changesOf(client, 'same')[0]!.messages, [])
})

test('many changes come in several values, the last with the last revision', async () => {
  const { token } = await signIn(app)
  await put(token, 'long', {})
  const text = 'x'.repeat(100_000)
  for (let at = 0; at < 60; at += 20) {
    const messages = Array.from({ length: 20 }, (_, i) => ({ externalId: `m${at + i}`, ...message(text) }))
    await batch(token, 'long', messages)
  }
  const client = await open()
  client.subscribe('s', 'traces:getMessages', { externalId: 'long', authToken: token, changedSince: 0 })
  await batch(token, 'long', [{ externalId: 'm3', ...message('changed meanwhile') }])
  await until(() => merged(changesOf(client, 's')).get('m3') === 'changed meanwhile')
  const revision = await revisionOf(token, 'long')
  await until(() => changesOf(client, 's').at(-1)?.revision === revision)
  const changes = changesOf(client, 's')
  assert.ok(changes.length > 2)
  assert.is(merged(changes).size, 60)
  const sizes = changes.map((change) => JSON.stringify(change).length)
  assert.ok(
    sizes.every((size) => size < 3 * 1024 * 1024),
    String(sizes),
  )
})

test('no value shows half a batch, however large the batch is', async () => {
  const { token } = await signIn(app)
  await put(token, 'whole', {})
  const client = await open()
  client.subscribe('s', 'traces:getMessages', { externalId: 'whole', authToken: token, changedSince: 0 })
  await until(() => changesOf(client, 's').length === 1)
  const messages = Array.from({ length: 40 }, (_, i) => ({ externalId: `m${i}`, ...message('x'.repeat(100_000)) }))
  await batch(token, 'whole', messages)
  await until(() => merged(changesOf(client, 's')).size === 40)
  assert.equal(
    changesOf(client, 's').map((change) => change!.messages.length),
    [0, 40],
  )
})

test('a trace that is created later, or joined later, is shown from then on', async () => {
  const [owner, guest] = [await signIn(app), await signIn(app)]
  const { id: namespaceId, slug } = await owner.newTeam()
  await owner.send('POST', '/v1/session/switch', { namespaceId })
  const client = await open()
  client.subscribe('s', 'traces:get', { externalId: 'later', authToken: guest.token })
  await until(() => client.values('s').length === 1)
  await put(owner.token, 'later', { title: 'Ours' })
  await owner.admit(slug, guest)
  await until(() => client.values('s').at(-1) !== null)
  assert.equal(titlesOf(client, 's'), [null, 'Ours'])
})

test('of traces with one externalId that of the namespace is shown', async () => {
  const [ada, ben] = [await signIn(app), await signIn(app)]
  for (const { token, namespaceSlug } of [ada, ben])
    await put(token, `same?namespace=${namespaceSlug}`, { title: namespaceSlug, visibility: 'public' })
  const client = await open()
  for (const [id, namespace] of [
    ['a', ada.namespaceSlug],
    ['b', ben.namespaceSlug],
    ['c', 'nobody-has-it'],
    ['d', 'no slug!'],
  ] as const)
    client.subscribe(id, 'traces:get', { externalId: 'same', namespace, authToken: ben.token })
  await put(ben.token, `same?namespace=${ben.namespaceSlug}`, { title: 'Another title', visibility: 'public' })
  await until(() => titlesOf(client, 'b').at(-1) === 'Another title')
  await until(() => ['a', 'c', 'd'].every((id) => client.values(id).length > 0))
  assert.equal(titlesOf(client, 'a').at(-1), ada.namespaceSlug)
  for (const id of ['c', 'd']) assert.equal(titlesOf(client, id), [null])
})

test('a query is answered once over REST', async () => {
  const { token } = await signIn(app)
  await put(token, 'asked', { title: 'Q' })
  const ask = async (body: object, by?: string) => app.call('POST', '/v1/query', { body, ...(by ? { token: by } : {}) })
  const query = { query: 'traces:get', args: { externalId: 'asked' } }
  const valueOf = ({ data }: { data: unknown }) => (data as { value: Shown }).value
  assert.is(valueOf(await ask(query)), null)
  assert.is(valueOf(await ask(query, token))?.title, 'Q')
  assert.is(valueOf(await ask({ ...query, args: { ...query.args, authToken: token } }))?.title, 'Q')
  assert.is((await ask({ query: 'feed:getPublicTraces' })).status, 200)
  assert.is((await ask({ query: 'toString' })).status, 400)
  assert.is((await ask({ query: 'traces:get', args: {} })).status, 400)
  assert.is((await ask({ query: 'feed:getPublicTraces', args: { limit: -1 } })).status, 400)
})

test('invalid frames get an error, and the connection stays open', async () => {
  const client = await open()
  for (const text of ['', '{', '5', 'null', '[]', '{"type":"x"}', '{"type":"subscribe","query":"traces:get"}'])
    client.socket.send(text)
  client.socket.send(Buffer.from('{"type":"ping"}'), { binary: true })
  client.subscribe('s', '__proto__')
  await until(() => client.errors().length === 9)
  client.say({ type: 'ping' })
  await until(() => client.frames.at(-1)!.type === 'pong')
})

test('a subscription that was ended or replaced gets nothing more', async () => {
  const { token } = await signIn(app)
  for (const name of ['x', 'y', 'z']) await put(token, name, { title: name, visibility: 'public' })
  const client = await open()
  for (const id of ['a', 'b', 'c']) client.subscribe(id, 'traces:get', { externalId: 'x' })
  await until(() => client.frames.length === 3)
  client.say({ type: 'unsubscribe', id: 'a' })
  client.subscribe('b', 'traces:get', { externalId: 'y' })
  await until(() => client.frames.length === 4)
  await put(token, 'x', { title: 'changed', visibility: 'public' })
  await until(() => client.values('c').length === 2)
  assert.equal([titlesOf(client, 'a'), titlesOf(client, 'b')], [['x'], ['x', 'y']])
})

test('more subscriptions or connections than allowed are refused', async () => {
  const { token } = await signIn(app)
  const client = await open()
  for (const id of ['1', '2', '3', '4', '5', '6']) client.subscribe(id, 'feed:getPublicTraces', { limit: 1 })
  await until(() => client.errors().length === 1)
  assert.equal(client.errors(), ['rate_limited'])
  const authorization = `Bearer ${token}`
  await open(origin, { authorization })
  await open(origin, { authorization })
  assert.match(String(await open(origin, { authorization }).catch(String)), /answered 429, Retry-After 10$/)
  const third = await open()
  third.subscribe('s', 'traces:get', { externalId: 'x', authToken: token })
  assert.is(await third.closed(), 4029)
})

test('a cookie counts only from our own pages, or from CORS_ORIGINS', async () => {
  const { token } = await signIn(app)
  await put(token, 'cookies', { title: 'Secret' })
  const titleFrom = async (headers: Record<string, string>) => {
    const client = await open(origin, { cookie: `tracebook=${token}`, ...headers })
    client.subscribe('s', 'traces:get', { externalId: 'cookies' })
    await until(() => client.values('s').length === 1)
    client.end()
    await until(() => app.service.connections.counts().connections === 0)
    return titlesOf(client, 's')[0]
  }
  assert.is(await titleFrom({}), null)
  assert.is(await titleFrom({ origin: 'https://evil.example' }), null)
  assert.is(await titleFrom({ origin: 'https://app.example.com.evil.example' }), null)
  assert.is(await titleFrom({ origin: 'https://app.example.com' }), 'Secret')
  assert.is(await titleFrom({ origin }), 'Secret')
  const { port } = new URL(origin)
  const host = `localhost:${port}`
  assert.is(await titleFrom({ host, origin: `http://${host}` }), 'Secret')
  assert.is(await titleFrom({ host, origin: 'http://localhost:1' }), null)
  assert.is(await titleFrom({ origin: `http://${host}` }), null)
})

test('a frame of more than 64 KiB closes the connection, and a stop tells clients to reconnect', async () => {
  const client = await open()
  client.socket.send('x'.repeat(64 * 1024 + 1))
  assert.is(await client.closed(), 1009)
  const leaving = await openNode()
  const at = await leaving.app.listen({ host: '127.0.0.1', port: 0 })
  const staying = await open(at)
  await leaving.close()
  assert.is(await staying.closed(), 1012)
})

test('a request that is not an upgrade is not found', async () => {
  assert.is((await app.call('GET', '/v1/realtime')).status, 404)
})

test.run()
