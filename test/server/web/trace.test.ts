import { gunzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { type Element, elementsOf, textOf } from '../../transcript/support/elements.ts'
import { places, session } from '../../transcript/support/session.ts'

const test = suite('web: the page of a session')

const { node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })

const owner = await signIn(node)
const { namespaceSlug: slug, send, newTrace } = owner
const get = (url: string, token?: string) => callerOf(node, token).open(url)

/** The body of a page that the owner is shown. */
const shown = async (url: string): Promise<string> => {
  const { statusCode, body } = await get(url, owner.token)
  assert.is(statusCode, 200, `${url}: ${body.slice(0, 300)}`)
  return body
}

const attribute = ({ attrs }: Element, name: string) => attrs.find((one) => one.name === name)?.value
const hasClass = (element: Element, name: string) => attribute(element, 'class')?.split(' ').includes(name) === true

/** The rows of a page or a fragment. */
const rowsOf = (source: string): Element[] =>
  elementsOf(
    source.startsWith('<!doctype')
      ? source
      : `<!doctype html><html><head><title></title></head><body>${source}</body></html>`,
  ).filter(({ tagName }) => tagName === 'article')
const idsOf = (source: string) => rowsOf(source).map((row) => attribute(row, 'data-id'))

const words = session((place) => `the ${place}`)

test('the page of a session without messages says so, and tells its writers how to upload; a list counts messages if there are no prompts', async () => {
  const { page } = await newTrace({ title: 'Nothing yet', visibility: 'public' }, [])
  assert.match(await shown(page), '.tgz sync')
  const { body } = await get(page)
  assert.match(body, 'This session has no messages yet.')
  assert.not.match(body, /\.tgz sync|0 messages|To the top/)
  await newTrace({ title: 'Only an answer' }, [{ externalId: 'a', role: 'assistant', textContent: 'an answer' }])
  const list = await shown(`/@${slug}`)
  assert.match(list, /Only an answer[^]*?<span>1 message<\/span>/)
})

test('the page of a session has its head, its messages and its outline', async () => {
  const { page } = await newTrace({ title: 'Mend the page', projectName: 'shop', visibility: 'private' }, words)
  const body = await shown(page)
  const all = elementsOf(body)
  const text = textOf(all[0]!)
  for (const place of places) assert.ok(text.includes(`the ${place}`), place)
  assert.is(textOf(all.find(({ tagName }) => tagName === 'h1')!), 'Mend the page')
  const wrapper = all.find((element) => hasClass(element, 'trace'))!
  assert.equal(
    ['data-trace', 'data-count'].map((name) => attribute(wrapper, name)),
    [page, '6'],
  )
  const outline = all.find((element) => attribute(element, 'id') === 'outline')!
  assert.match(textOf(outline), /1the prompt4 tools1 failed[\s\S]*2the plain/)
  const ids = all.flatMap((element) => attribute(element, 'id') ?? [])
  assert.ok(ids.indexOf('main') < ids.indexOf('outline'), 'the outline comes last')
  assert.is(new Set(ids).size, ids.length)
})

test('a message has its place, its id, and a link to itself, and the linked one is marked', async () => {
  const { page } = await newTrace({}, words)
  const rows = rowsOf(await shown(`${page}?m=a2`))
  assert.equal(
    rows.map((row) => [
      attribute(row, 'id'),
      attribute(row, 'data-id'),
      attribute(row, 'data-ordinal'),
      attribute(row, 'data-no'),
    ]),
    [
      ['m-0', 'p1', '0', '1'],
      ['m-1', 'a1', '1', undefined],
      ['m-2', 'r1', '2', undefined],
      ['m-3', 'a2', '3', undefined],
      ['m-4', 'p2', '4', '2'],
      ['m-5', 's1', '5', undefined],
    ],
  )
  assert.equal(
    rows.filter((row) => attribute(row, 'aria-current') === 'true').map((row) => attribute(row, 'data-id')),
    ['a2'],
  )
  const link = rows[3]!.childNodes[0] as Element
  assert.equal([attribute(link, 'class'), attribute(link, 'href')], ['at', `${page}?m=a2`])
  assert.match(await shown(`${page}?m=gone`), /not in the session any more/)
})

test('ids of sessions and messages may be anything', async () => {
  for (const id of ['a/b', '%', '%2F', 'a?b#c', ' ', '漢字 🙂', '"><script>', "it's", '-', 'x'.repeat(1_024)]) {
    const { page } = await newTrace({ title: 'Odd' }, [{ externalId: id, role: 'user', textContent: 'hello' }], id)
    const body = await shown(`${page}?m=${encodeURIComponent(id)}`)
    assert.equal(idsOf(body), [id])
    const [row] = rowsOf(body)
    const href = attribute(row!.childNodes[0] as Element, 'href')!
    const { pathname, searchParams } = new URL(href, 'http://127.0.0.1')
    assert.equal([decodeURIComponent(pathname.split('/')[2]!), searchParams.get('m')], [id, id])
    assert.equal(idsOf(await shown(`${page}/-/message/${encodeURIComponent(id)}`)), [id])
  }
})

test('views show prompts with answers only, or with calls only', async () => {
  const { page } = await newTrace({}, words)
  const textIn = async (view: string) => textOf(elementsOf(await shown(`${page}?view=${view}`))[0]!)
  const [talk, tools] = [await textIn('talk'), await textIn('tools')]
  assert.equal(
    ['the answer', 'the thought', 'the output', 'the context'].map((one) => talk.includes(one)),
    [true, false, false, false],
  )
  assert.equal(
    ['the answer', 'the thought', 'the output', 'the prompt'].map((one) => tools.includes(one)),
    [false, false, true, true],
  )
  assert.is((await get(`${page}?view=other`, owner.token)).statusCode, 400)
})

const part = (type: string, content: object) => ({ type, content })
const call = (callId: string) => part('tool_call', { callId, toolName: 'Bash', args: { command: `run ${callId}` } })
const result = (callId: string, output: string) =>
  part('tool_result', { callId, toolName: 'Bash', output, status: 'success' })

/** Prompts, answers with a call, and results in messages of their own, `count` of each. */
const long = (count: number) =>
  Array.from({ length: count }, (_, i) => [
    { externalId: `p${i}`, role: 'user', order: 4 * i, textContent: `question ${i}` },
    {
      externalId: `c${i}`,
      role: 'assistant',
      order: 4 * i + 1,
      parts: [part('text', { text: 'I look.' }), call(`${i}`)],
    },
    { externalId: `r${i}`, role: 'user', order: 4 * i + 2, parts: [result(`${i}`, `output ${i}`)] },
  ]).flat()

const LONG = 400
const giant = await newTrace({ title: 'A giant', visibility: 'public' }, long(LONG))
/** The ids of the rows that have a place from one to another: results have no row of their own. */
const rowIds = (from: number, to: number) =>
  long(LONG)
    .slice(from, to)
    .map(({ externalId }) => externalId)
    .filter((id) => !id.startsWith('r'))

test('a page of a session with more than a thousand messages has two hundred, with links to the others', async () => {
  const body = await shown(giant.page)
  assert.equal(idsOf(body), rowIds(0, 200))
  const next = elementsOf(body).filter(
    ({ tagName, attrs }) => tagName === 'a' && attrs.some(({ value }) => value === 'next'),
  )
  const seen = [...idsOf(body)]
  for (let path = attribute(next[0]!, 'href'); path;) {
    const page = await shown(path)
    seen.push(...idsOf(page))
    const more = elementsOf(page).find(
      ({ tagName, attrs }) => tagName === 'a' && attrs.some(({ value }) => value === 'next'),
    )
    path = more && attribute(more, 'href')
  }
  assert.equal(seen, rowIds(0, 3 * LONG))
  const outline = elementsOf(body).find((element) => attribute(element, 'id') === 'outline')!
  assert.match(textOf(outline), new RegExp(`${LONG}question ${LONG - 1}`))
  const linked = await shown(`${giant.page}?m=c300`)
  assert.equal(idsOf(linked), rowIds(801, 1_001))
  assert.match(linked, /data-no="268"/)
})

test('the rows of any part of a session are the same as on the whole page', async () => {
  const messages = long(40)
  const { page } = await newTrace({}, messages)
  const whole = new Map(rowsOf(await shown(page)).map((row) => [attribute(row, 'data-id'), textOf(row)]))
  for (const [from, limit] of [
    [0, 120],
    [1, 1],
    [2, 1],
    [3, 7],
    [50, 51],
    [119, 10],
  ] as const) {
    const answer = await get(`${page}/-/rows?from=${from}&limit=${limit}`, owner.token)
    const rows = rowsOf(answer.body)
    const expected = messages.slice(from, from + limit).filter(({ externalId }) => !externalId.startsWith('r'))
    assert.equal(
      rows.map((row) => attribute(row, 'data-id')),
      expected.map(({ externalId }) => externalId),
      `${from}, ${limit}`,
    )
    for (const row of rows) assert.ok(whole.get(attribute(row, 'data-id'))!.endsWith(textOf(row).slice(-20)))
  }
})

test('rows that changed since a revision come with those whose calls they answer', async () => {
  const { url, page } = await newTrace({}, [
    { externalId: 'p', role: 'user', order: 1, textContent: 'question' },
    { externalId: 'c', role: 'assistant', order: 2, parts: [call('1')] },
  ])
  const since = async (revision: string) => {
    const { statusCode, body, headers } = await get(`${page}/-/rows?changedSince=${revision}`, owner.token)
    assert.is(statusCode, 200, body)
    return { ids: idsOf(body), body, revision: String(headers['x-revision']) }
  }
  const revision = /data-revision="(\d+)"/.exec(await shown(page))![1]!
  assert.equal((await since(revision)).ids, [])
  const counts = (body: string) =>
    [...body.matchAll(/<div class="meta counts">.*<\/div>/g)].map(([line]) => line.replaceAll(/<[^>]+>/g, ' ').trim())
  await send('PUT', `${url}/messages/r`, { role: 'user', order: 3, parts: [result('1', 'the late answer')] })
  await send('PUT', `${url}/messages/c`, { role: 'assistant', order: 2, usage: { outputTokens: 1_234, costUsd: 0.5 } })
  const answered = await since(revision)
  assert.equal(answered.ids, ['c'])
  assert.match(answered.body, /the late answer/)
  const [numbers, used] = counts(answered.body)
  assert.match(numbers!, /3 +messages$/)
  assert.match(used!, /^1\.2 k tokens out +\$0\.50$/)
  assert.equal(counts(answered.body), counts(await shown(page)))
  await send('PUT', `${url}/messages/p`, { role: 'user', order: 1, textContent: 'another question' })
  assert.equal((await since(answered.revision)).ids, ['p'])
  assert.equal((await since(revision)).ids, ['p', 'c'])
  assert.is((await get(`${page}/-/rows`, owner.token)).statusCode, 400)
})

test('long output is folded, and whole on the page of its message', async () => {
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i} ends`).join('\n')
  const { page } = await newTrace({}, [
    { externalId: 'c', role: 'assistant', parts: [call('1')] },
    { externalId: 'r', role: 'user', parts: [result('1', lines)] },
  ])
  const body = await shown(page)
  assert.equal(
    [9, 10, 289, 290].map((i) => body.includes(`line ${i} ends`)),
    [true, false, false, true],
  )
  const [, path] = /<a href="([^"]+)" data-fold="">Show 280 more lines</.exec(body)!
  assert.match(body, '<details class="tool">')
  for (const whole of [await shown(path!), await shown(`${path}?fragment`), await shown(`${page}/-/message/r`)]) {
    for (const i of [0, 150, 299]) assert.ok(whole.includes(`line ${i} ends`))
    assert.match(whole, '<details class="tool" open>')
  }
  const text = await get(`${page}/-/message/r?part=0`, owner.token)
  assert.equal([text.body, text.headers['content-type']], [lines, 'text/plain; charset=utf-8'])
  assert.is((await get(`${page}/-/message/gone`, owner.token)).statusCode, 404)
})

test('a call that started a sub-agent links to its session', async () => {
  const parent = await newTrace({}, [
    {
      externalId: 'c',
      role: 'assistant',
      parts: [part('tool_call', { callId: 't1', toolName: 'Task', args: { description: 'look' } })],
    },
  ])
  const child = await newTrace(
    { title: 'The sub-agent', parentExternalId: parent.externalId, parentCallId: 't1' },
    words,
  )
  const links = elementsOf(await shown(parent.page)).filter(
    ({ tagName, attrs }) => tagName === 'a' && attrs.some(({ value }) => value === child.page),
  )
  assert.equal(links.map(textOf), ['The sub-agent', 'The sub-agent'])
})

test('only a public session has a preview', async () => {
  const { url, page } = await newTrace({ title: 'Secret <plans>', visibility: 'private' }, words)
  assert.not.match(await shown(page), /og:|twitter:|oembed/)
  await send('PATCH', url, { visibility: 'public' })
  const { body } = await get(page)
  assert.match(
    body,
    /<meta property="og:title" content="Secret &lt;plans&gt;">\n<meta property="og:description" content="[^"]+ — the prompt">/,
  )
  assert.match(body, /<link rel="alternate" type="application\/json\+oembed" href="\/oembed\?url=http/)
  assert.match(body, /<meta name="robots" content="noindex">/)
  assert.match((await get(`${page}?m=a1`)).body, /og:description" content="[^"]+ — the answer"/)
  await send('PATCH', url, { visibility: 'private' })
  const hidden = await get(page)
  assert.is(hidden.statusCode, 401)
  assert.not.match(hidden.body, /Secret|og:/)
})

const linked = async (page: string) => {
  const { body } = await get(page)
  const named = elementsOf(body).filter(({ tagName }) => tagName === 'meta')
  return (name: string) =>
    named.find((one) => [attribute(one, 'property'), attribute(one, 'name')].includes(name))?.attrs.at(-1)!.value
}

test('a link in a chat says who was at work, with which agent and when, and the title once', async () => {
  await send('PATCH', '/v1/user', { displayName: 'Ada "Lovelace"' })
  const timestamp = Date.UTC(2026, 10, 26, 9, 30)
  const fields = { title: 'the prompt', agentId: 'claude-code', visibility: 'public' }
  const { page, url } = await newTrace(
    fields,
    words.map((one) => ({ ...one, timestamp })),
  )
  const valueOf = await linked(page)
  assert.equal(
    ['og:title', 'og:description', 'og:site_name', 'article:published_time', 'article:author', 'author'].map(valueOf),
    [
      'the prompt',
      'Ada "Lovelace" · Claude Code · Thu 26 Nov 2026',
      'Tracebook',
      '2026-11-26T09:30:00.000Z',
      'Ada "Lovelace"',
      'Ada "Lovelace"',
    ],
  )
  await send('PATCH', url, { title: 'Another title' })
  assert.is((await linked(page))('og:description'), 'Ada "Lovelace" · Claude Code · Thu 26 Nov 2026 — the prompt')
  const child = await newTrace({ ...fields, title: 'Below', parentExternalId: 'of nobody' }, words)
  const valueOfChild = await linked(child.page)
  assert.equal([valueOfChild('author'), /Lovelace/.test(valueOfChild('og:description')!)], ['Claude Code', false])
})

test('titles are whole in the head and in links, and cut between words or graphemes in lists', async () => {
  const families = '👩‍👩‍👧‍👦'.repeat(300)
  const long = `Mend ${'every page of the service '.repeat(30)}now`
  for (const title of [families, long]) {
    const { page } = await newTrace({ title, visibility: 'public' }, words)
    const body = await shown(page)
    assert.is(textOf(elementsOf(body).find(({ tagName }) => tagName === 'h1')!), title)
    assert.match(body, `<title>${title} · Tracebook</title>`)
    assert.is((await linked(page))('og:title'), title)
    const named = elementsOf(await shown(`/@${slug}`))
      .filter((one) => hasClass(one, 'name'))
      .map(textOf)
    const name = named.find((one) => one.endsWith('…') && title.startsWith(one.slice(0, -1)))!
    assert.ok(name.length <= 160, name)
    assert.ok(title === families ? name.length % 11 === 1 : /\w…$/.test(name), name)
  }
})

test('only those who may write to a session get the links to share and delete it', async () => {
  const { page } = await newTrace({ visibility: 'public' }, words)
  const ways = (body: string) =>
    ['visibility', 'rename', 'delete'].map((name) => body.includes(`href="${page}/-/${name}"`))
  assert.equal(ways(await shown(page)), [true, true, true])
  const stranger = await signIn(node)
  for (const token of [stranger.token, undefined])
    assert.equal(ways((await get(page, token)).body), [false, false, false])
})

test('a page that everybody gets is sent without a database query, until something that it shows changes', async () => {
  const { externalId, url, page } = await newTrace({ visibility: 'public', title: 'The first title' }, words)
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip' }
  const ask = () => node.app.inject({ method: 'GET', url: page, headers })
  let queries = 0
  node.service.reads.pool.on('acquire', () => (queries += 1))
  /** The page as it is sent when it has been asked for often. */
  const kept = async () => {
    for (let i = 0; i < 3; i++) await ask()
    queries = 0
    const { rawPayload } = await ask()
    assert.is(queries, 0)
    return gunzipSync(rawPayload).toString()
  }
  assert.match(await kept(), 'The first title')
  await send('PATCH', url, { title: 'The second title' })
  assert.match(await kept(), 'The second title')
  await send('PUT', `${url}/messages/later`, { role: 'user', textContent: 'One more question' })
  assert.match(await kept(), 'One more question')
  await newTrace({ visibility: 'public', title: 'The sub-agent', parentExternalId: externalId }, words)
  assert.match(await kept(), 'The sub-agent')
  await send('PATCH', url, { visibility: 'private' })
  assert.is((await ask()).statusCode, 401)
})

test('a page is compressed while it is made, if everybody is shown it', async () => {
  const { page } = await newTrace({ visibility: 'public', title: 'For everybody' }, words)
  const ask = (cookie: string) =>
    node.app.inject({ method: 'GET', url: page, headers: { accept: 'text/html', 'accept-encoding': 'gzip', cookie } })
  const forOne = await ask('theme=dark')
  assert.is(forOne.headers['content-encoding'], undefined)
  assert.match(forOne.body, '<title>For everybody')
  const forAll = await ask('')
  assert.is(forAll.headers['content-encoding'], 'gzip')
  assert.match(String(forAll.headers['link']), /^<\/assets\/style-.+\.css>; rel=preload; as=style$/)
  assert.is(gunzipSync(forAll.rawPayload).toString(), (await get(page, undefined)).body)
})

test('every part of a page asks for the same right', async () => {
  const stranger = await signIn(node)
  const { url, page } = await newTrace({ visibility: 'private' }, words)
  const doors = [
    '',
    '?m=a1',
    '/-/rows?from=0',
    '/-/rows?changedSince=0',
    '/-/changes',
    '/-/message/a1',
    '/-/message/a1?fragment',
    '/-/message/a1?part=0',
  ]
  // One after the other: of eight at once one was answered with 503 on a very busy machine.
  const statuses = async (token?: string) => {
    const found: number[] = []
    for (const door of doors) found.push((await get(`${page}${door}`, token)).statusCode)
    return found
  }
  assert.equal(
    await statuses(owner.token),
    doors.map(() => 200),
  )
  assert.equal(
    await statuses(stranger.token),
    doors.map(() => 404),
  )
  assert.equal(
    await statuses(),
    doors.map(() => 401),
  )
  await send('PATCH', url, { visibility: 'public' })
  assert.equal(
    await statuses(),
    doors.map(() => 200),
  )
  await send('DELETE', url)
  assert.equal(
    await statuses(owner.token),
    doors.map(() => 404),
  )
})

test.run()
