import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, type Person, callerOf, sharedWorld, signIn } from '../../support/world.ts'

const test = suite('trace: parents, children, times and sorted lists')

const { node } = await sharedWorld()

type Trace = {
  id: string
  externalId: string
  parentExternalId?: string
  parentCallId?: string
  startedAt?: number
  endedAt?: number
  updatedAt: number
}
type Page = { traces: Trace[]; nextCursor?: string }
const statusOf = async (url: string, { ask }: Caller) => (await ask('GET', url)).status

const put = async ({ send }: Person, externalId: string, body: object = {}) =>
  (await send<{ trace: Trace }>('PUT', `/v1/traces/${externalId}`, body)).trace

const say = (user: Person, externalId: string, ...messages: object[]) =>
  user.say(
    `/v1/traces/${externalId}`,
    messages.map((message) => ({ role: 'user', ...message })),
  )

const idsOf = ({ traces }: Page) => traces.map(({ externalId }) => externalId)

/** A trace in each of its representations. */
const shown = async ({ token, namespaceSlug, send, get }: Person, externalId: string): Promise<Trace[]> => {
  const one = ({ traces }: Page) => traces.find((trace) => trace.externalId === externalId)!
  const exported = (await get(`/v1/traces/${externalId}/export?format=json`)).body
  const { trace } = await send<{ trace: Trace }>('GET', `/v1/traces/${externalId}`)
  return [
    trace,
    one(await send('GET', '/v1/traces')),
    one(await send('GET', '/v1/traces?sort=startedAt')),
    one(await send('GET', `/v1/namespaces/${namespaceSlug}/traces`)),
    one(await send('GET', '/v1/feed?limit=50')),
    (JSON.parse(exported) as { trace: Trace }).trace,
    (await send<{ trace: Trace }>('GET', `/v1/traces/${externalId}?at=${Date.now()}`)).trace,
    (
      await send<{ value: Trace }>('POST', '/v1/query', {
        query: 'traces:get',
        args: { externalId, authToken: token },
      })
    ).value,
    (await send<{ trace: Trace }>('PATCH', `/v1/traces/${externalId}`, {})).trace,
  ]
}

test('the parent is in every representation, in the timeline and in differences', async () => {
  const user = await signIn(node)
  const [child, parent] = [randomUUID(), randomUUID()]
  await put(user, child, { parentExternalId: parent })
  await user.send('PATCH', `/v1/traces/${child}`, { parentCallId: 'call-7', title: 'T' })
  for (const trace of await shown(user, child))
    assert.equal([trace.parentExternalId, trace.parentCallId], [parent, 'call-7'])
  const { events } = await user.send<{ events: { text: string; revision: number }[] }>(
    'GET',
    `/v1/traces/${child}/events?type=TraceUpdated`,
  )
  assert.match(events[0]!.text, 'set the call of the parent to “call-7”')
  const { patch } = await user.send<{ patch: object[] }>('GET', `/v1/traces/${child}/diff?from=0&to=1`)
  assert.equal(patch, [
    { op: 'add', path: '/title', value: 'T' },
    { op: 'add', path: '/parentCallId', value: 'call-7' },
  ])
  assert.not.ok('parentExternalId' in (await put(user, parent)))
})

test('children are the traces of its namespace whose present parent is the trace; the newest first, page by page', async () => {
  const user = await signIn(node)
  const stranger = await signIn(node)
  const [parent, other] = [randomUUID(), randomUUID()]
  const children = (query = '') => user.send<Page>('GET', `/v1/traces/${parent}/children${query}`)
  assert.is(await statusOf(`/v1/traces/${parent}/children`, user), 404)
  await put(user, parent)
  assert.equal(await children(), { traces: [] })
  for (const name of ['one', 'two', 'three']) await put(user, name, { parentExternalId: parent })
  await put(stranger, 'of-another-namespace', { parentExternalId: parent, visibility: 'public' })
  await put(user, 'four', { parentExternalId: other })
  assert.equal(idsOf(await children()), ['three', 'two', 'one'])
  const page = await children('?limit=2')
  assert.equal(idsOf(page), ['three', 'two'])
  assert.equal(await children(`?limit=2&cursor=${page.nextCursor}`), {
    traces: (await children()).traces.slice(2),
  })
  await put(user, 'two', { parentExternalId: other })
  await user.send('DELETE', '/v1/traces/one')
  await put(user, 'four', { parentExternalId: parent })
  assert.equal(idsOf(await children()), ['four', 'three'])
  assert.equal(idsOf(await children(`?namespace=${user.namespaceSlug}`)), ['four', 'three'])
  assert.is(await statusOf(`/v1/traces/${parent}/children?namespace=${stranger.namespaceSlug}`, user), 404)
  assert.is(await statusOf(`/v1/traces/${parent}/children?cursor=x`, user), 400)
})

test('startedAt and endedAt follow the timestamps of the messages in every representation, after any change', async () => {
  const user = await signIn(node)
  const id = randomUUID()
  const check = async (startedAt: number | undefined, endedAt: number | undefined) => {
    for (const trace of await shown(user, id)) assert.equal([trace.startedAt, trace.endedAt], [startedAt, endedAt])
  }
  const timed = (...messages: [externalId: string, timestamp?: number][]) =>
    say(user, id, ...messages.map(([externalId, timestamp]) => ({ externalId, timestamp })))
  await put(user, id)
  await check(undefined, undefined)
  await timed(['none'])
  await check(undefined, undefined)
  await timed(['a', 50], ['b', 20], ['c', 80])
  await check(20, 80)
  await timed(['b', 60], ['c', 10.5])
  await check(10.5, 60)
  await timed(['none', -5])
  await check(-5, 60)
  await user.send('DELETE', `/v1/traces/${id}`)
  await put(user, id)
  await check(undefined, undefined)
  await timed(['a', 70])
  await check(70, 70)
})

const SORTS = ['createdAt', 'startedAt', 'updatedAt'] as const

test('lists are sorted by the requested order, page by page, and unknown orders are refused', async () => {
  const user = await signIn(node)
  const stranger = await signIn(node)
  const names = ['n0', 'n1', 'n2', 'n3', 'n4']
  for (const name of names) await put(user, name, { visibility: name === 'n3' ? 'private' : 'public' })
  for (const [name, timestamp] of [
    ['n4', 5],
    ['n0', 9],
    ['n2', 5],
    ['n3', 7],
  ] as const)
    // prettier-ignore
    await say(user, name, { externalId: 'm', timestamp })
  const traces = new Map((await user.send<Page>('GET', '/v1/traces')).traces.map((trace) => [trace.externalId, trace]))
  const [lower, higher] = [traces.get('n2')!, traces.get('n4')!].sort((a, b) => (a.id < b.id ? -1 : 1))
  const expected = {
    createdAt: ['n4', 'n3', 'n2', 'n1', 'n0'],
    // Where it is not known when it began, it counts when it came; of the same time the higher id comes first.
    startedAt: ['n1', 'n0', 'n3', higher!.externalId, lower!.externalId],
    updatedAt: ['n3', 'n2', 'n0', 'n4', 'n1'],
  }
  const list = `/v1/namespaces/${user.namespaceSlug}/traces`
  for (const sort of SORTS) {
    for (const url of ['/v1/traces', list]) {
      assert.equal(idsOf(await user.send('GET', `${url}?sort=${sort}`)), expected[sort], `${url} ${sort}`)
      const found: string[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const page: Page = await user.send('GET', `${url}?sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`)
        found.push(...idsOf(page))
        cursor = page.nextCursor
      }
      assert.equal(found, expected[sort], `${url} ${sort}, page by page`)
    }
    const open = expected[sort].filter((name) => name !== 'n3')
    for (const { send } of [stranger, callerOf(node)])
      assert.equal(idsOf(await send<Page>('GET', `${list}?sort=${sort}`)), open)
    const { nextCursor } = await user.send<Page>('GET', `${list}?sort=${sort}&limit=1`)
    for (const other of SORTS.filter((other) => other !== sort))
      assert.is(await statusOf(`${list}?sort=${other}&cursor=${nextCursor}`, user), 400, `${sort}, ${other}`)
  }
  for (const sort of ['title', 'CREATEDAT', ''])
    for (const url of ['/v1/traces', list]) assert.is(await statusOf(`${url}?sort=${sort}`, user), 400)
})

const LATE = Date.now() + 3_600_000

test('for a member, a sorted list without a limit has all traces, each once, however many there are', async () => {
  const user = await signIn(node)
  const count = 450
  const names = Array.from({ length: count }, (_, i) => `t${i}`)
  for (let from = 0; from < count; from += 50)
    await Promise.all(names.slice(from, from + 50).map((name) => put(user, name, { title: 'x'.repeat(3_000) })))
  for (let i = 0; i < 20; i++) await say(user, `t${i}`, { externalId: 'm', timestamp: LATE + i })
  for (const sort of ['startedAt', 'updatedAt'] as const) {
    const { traces, nextCursor } = await user.send<Page>(
      'GET',
      `/v1/namespaces/${user.namespaceSlug}/traces?sort=${sort}`,
    )
    assert.is(nextCursor, undefined)
    const newest = Array.from({ length: 20 }, (_, i) => `t${19 - i}`)
    assert.equal(idsOf({ traces }).slice(0, 20), newest, sort)
    assert.equal(new Set(idsOf({ traces })), new Set(names), sort)
    assert.is(traces.length, count)
  }
})

test('a session that began more than two days ahead of the clock is sorted by its arrival, page by page', async () => {
  const user = await signIn(node)
  const DAY = 86_400_000
  const names = ['ahead-0', 'ahead-1', 'ahead-2', 'ahead-3'] as const
  for (const name of names) await put(user, name)
  for (const [name, timestamp] of [
    [names[0], Date.UTC(2100)],
    [names[1], Date.now() + DAY],
    [names[2], Number.MAX_SAFE_INTEGER],
  ] as const)
    await say(user, name, { externalId: 'm', timestamp })
  const found: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page: Page = await user.send('GET', `/v1/traces?sort=startedAt&limit=1${cursor && `&cursor=${cursor}`}`)
    found.push(...idsOf(page))
    cursor = page.nextCursor
  }
  assert.equal(found, [names[1], names[3], names[2], names[0]])
  const { traces } = await user.send<Page>('GET', '/v1/traces')
  assert.is(traces.find(({ externalId }) => externalId === names[0])!.startedAt, Date.UTC(2100))
})

test('a cursor with a time that its order cannot have is refused', async () => {
  const [user, id] = [await signIn(node), randomUUID()]
  const cursor = (...keys: unknown[]) => Buffer.from(JSON.stringify(keys)).toString('base64url')
  for (const time of [1.5, 1e30, -1e30])
    for (const list of ['/v1/traces', `/v1/namespaces/${user.namespaceSlug}/traces`])
      assert.is(await statusOf(`${list}?sort=updatedAt&cursor=${cursor('updatedAt', time, id)}`, user), 400)
})

test.run()
