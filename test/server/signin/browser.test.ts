import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CurrentSession, NewSession, SessionView } from '../../../src/contract/sessions.ts'
import { buildApp } from '../../../src/server/service/app.ts'
import { all } from '../../eventstore/log/support/events.ts'
import type { App } from '../../support/open-app.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { signIn } from '../../support/world.ts'
import { formOf } from './support/world.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('a browser signs in with a one-time code')
const MINUTE = 60_000
const { clock, node: app, openNode, other, nodes } = await openTwoNodes(test)
const { call, service } = app

const HOST = '127.0.0.1:3000'
const ORIGIN = `http://${HOST}`
const html = { accept: 'text/html', host: HOST }

const start = (more: { deviceName?: string } = {}, node: App = app) => signIn(node, undefined, more)
const make = (token: string | undefined, query = '', headers: Record<string, string> = {}, node: App = app) =>
  node.call('POST', `/v1/session/browser${query}`, { token, headers: { host: HOST, ...headers } })
const newUrl = async ({ token }: NewSession, query = '') => {
  const { status, data, error } = await make(token, query)
  assert.is(status, 200, JSON.stringify(error))
  return data as { url: string; expiresAt: number }
}
const pathOf = (url: string) => new URL(url).pathname + new URL(url).search
const open = (url: string, headers: Record<string, string> = {}, node: App = app) =>
  node.app.inject({ url: pathOf(url), headers: { ...html, ...headers } })
const submit = (code: string, headers: Record<string, string> = { origin: ORIGIN }, node: App = app) =>
  node.app.inject({
    method: 'POST',
    url: '/v1/auth/browser',
    headers: { ...html, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams({ code }).toString(),
  })
const codeOf = (url: string) => new URL(url).searchParams.get('code')!
/** Presses the button of a page. */
const press = async (url: string, node: App = app) => {
  const page = await open(url, {}, node)
  assert.is(page.statusCode, 200, page.body)
  const { action, code } = formOf(page.body)
  assert.is(action, '/v1/auth/browser')
  return submit(code!, { origin: ORIGIN, 'sec-fetch-site': 'same-origin' }, node)
}
const tokenIn = (answer: Awaited<ReturnType<typeof submit>>) =>
  /^tracebook=(tb_[\w-]{43}); Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/.exec(
    String(answer.headers['set-cookie']),
  )?.[1]

test('the button sets the cookie of a new session of the same user, and goes to the page of the service', async () => {
  const user = await start({ deviceName: 'my laptop' })
  const { url, expiresAt } = await newUrl(user)
  assert.is(expiresAt, clock.now + MINUTE)
  assert.is(new URL(url).origin, ORIGIN)
  const answer = await press(url)
  assert.equal([answer.statusCode, answer.headers.location], [303, '/'])
  const token = tokenIn(answer)!
  assert.is.not(token, user.token)
  const { data } = await call('GET', '/v1/session', { headers: { cookie: `tracebook=${token}` } })
  const { session, csrfToken } = data as CurrentSession
  assert.equal([session.userId, session.identityId], [user.userId, user.identityId])
  assert.ok(csrfToken)
  const { sessions } = (await call('GET', '/v1/sessions', { token: user.token })).data as { sessions: SessionView[] }
  assert.equal(sessions.map(({ deviceName }) => deviceName).sort(), ['browser', 'my laptop'])
})

test('the page names the user, who was signed in before, and the device that asked', async () => {
  const user = await start({ deviceName: '<b>laptop</b>' })
  await call('PATCH', '/v1/user', { token: user.token, body: { displayName: 'Ada & <i>' } })
  const { url } = await newUrl(user)
  const { body } = await open(url)
  assert.match(body, `<dd><bdi>Ada &amp; &lt;i&gt;</bdi> (<bdi>${user.namespaceSlug}</bdi>)</dd>`)
  assert.match(body, '<dd><bdi>&lt;b&gt;laptop&lt;/b&gt;</bdi></dd>')
  assert.not.match(body, 'signed in as <bdi>')
  const victim = await start()
  const seen = await open(url, { cookie: `tracebook=${victim.token}` })
  assert.match(seen.body, `is signed in as <bdi>${victim.namespaceSlug}</bdi> now`)
  const own = await open(url, { cookie: `tracebook=${user.token}` })
  assert.not.match(own.body, 'signed in as <bdi>')
})

test('opening the page, however often, signs nobody in; the code leaks nowhere', async () => {
  const { url } = await newUrl(await start())
  const before = await service.log.head()
  for (let i = 0; i < 3; i++) {
    const { statusCode, headers, body } = await open(url)
    assert.equal([statusCode, headers['set-cookie'], headers['cache-control']], [200, undefined, 'no-store'])
    assert.equal([headers['referrer-policy'], headers['x-frame-options']], ['strict-origin', 'DENY'])
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; .*; form-action 'self'; base-uri 'none'; /)
    assert.ok(policy.includes("; frame-ancestors 'none'; "), policy)
    const links = [...body.matchAll(/(?:src|href)="([^"#]+)/g)].map(([, link]) => link!)
    assert.equal([...new Set(links)].filter((link) => !link.startsWith('/assets/')).sort(), [
      '/',
      '/docs',
      '/help',
      '/signin',
    ])
  }
  assert.equal(await typesSince(service.log, before), [])
  assert.is((await press(url)).statusCode, 303)
})

test('a code works once, on whichever node', async () => {
  const { url } = await newUrl(await start())
  const answers = await Promise.all([app, other, app, other].map((node) => submit(codeOf(url), undefined, node)))
  assert.equal(answers.map(({ statusCode }) => statusCode).sort(), [303, 410, 410, 410])
  for (const node of nodes) {
    const page = await open(url, {}, node)
    assert.is(page.statusCode, 410)
    assert.match(String(page.headers['content-type']), 'text/html')
    assert.match(page.body, 'has been used')
    const { error } = (await open(url, { accept: 'application/json' }, node)).json()
    assert.is(error.code, 'code_used')
    assert.is((await submit(codeOf(url), { origin: ORIGIN, accept: '*/*' }, node)).json().error.code, 'code_used')
  }
})

test('a code does not sign in if the session that made it ends after the code was checked', async () => {
  const maker = await start()
  const claim: typeof service.codes.claim = async (...claimed) => {
    await call('DELETE', '/v1/session', { token: maker.token })
    return service.codes.claim(...claimed)
  }
  const late = await buildApp({ ...service, codes: { ...service.codes, claim } })
  const { url } = await newUrl(maker)
  const answer = await submit(codeOf(url), undefined, { ...app, app: late })
  assert.equal([answer.statusCode, answer.headers['set-cookie']], [410, undefined])
  assert.match(answer.body, 'has ended')
  const events = await all(service.log.readAll({ after: -1n }))
  const { stream } = events.find(({ type, data }) => type === 'SessionCreated' && data.includes(maker.id))!
  assert.is(events.findLast((event) => event.stream === stream)?.type, 'SessionRevoked')
  await late.close()
})

test('a code is valid for 60 seconds, while the session that made it is valid', async () => {
  const user = await start()
  const [late, ended] = [await newUrl(user), await newUrl(user)]
  clock.now += MINUTE
  for (const answer of [await open(late.url), await submit(codeOf(late.url))]) {
    assert.is(answer.statusCode, 410)
    assert.match(answer.body, 'has expired')
  }
  clock.now -= MINUTE
  await call('DELETE', '/v1/session', { token: user.token })
  for (const answer of [await open(ended.url, {}, other), await submit(codeOf(ended.url), undefined, other)]) {
    assert.is(answer.statusCode, 410)
    assert.is(answer.headers['set-cookie'], undefined)
  }
})

test('codes of other kinds, and made-up ones, are unknown', async () => {
  const { token } = await start()
  const { data } = await call('POST', '/v1/session/device', { token })
  const { code } = data as { code: string }
  for (const unknown of [code, 'x', token]) {
    assert.is((await open(`${ORIGIN}/v1/auth/browser?code=${unknown}`)).statusCode, 404)
    assert.is((await submit(unknown)).statusCode, 404)
  }
  const { url } = await newUrl(await start())
  const joining = await call('POST', '/v1/session', { body: { deviceId: randomUUID(), joinCode: codeOf(url) } })
  assert.is(joining.status, 404)
  for (const path of ['', '?code=', `?code=${'x'.repeat(257)}`])
    assert.is((await open(`${ORIGIN}/v1/auth/browser${path}`)).statusCode, 400)
})

test('only the page itself may send the form', async () => {
  const { url } = await newUrl(await start())
  for (const headers of [
    {},
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: 'http://127.0.0.1:4000' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-site', origin: ORIGIN },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
  ] as Record<string, string>[]) {
    const { statusCode, headers: answered } = await submit(codeOf(url), headers)
    assert.equal([statusCode, answered['set-cookie']], [403, undefined], JSON.stringify(headers))
  }
  assert.is((await submit(codeOf(url), { 'sec-fetch-site': 'same-origin' })).statusCode, 303)
})

test('the sign-in may lead to any page of the service, and to none of another site', async () => {
  const user = await start()
  const go = async (page: string) => (await press((await newUrl(user, page)).url)).headers.location
  assert.is(await go(`?redirectTo=${encodeURIComponent('/a/b?c=d#e')}`), `${ORIGIN}/a/b?c=d#e`)
  assert.is(await go(`?redirectTo=${encodeURIComponent(`${ORIGIN}/docs`)}`), `${ORIGIN}/docs`)
  assert.is(await go(`?redirectTo=${encodeURIComponent('/.//evil.example')}`), `${ORIGIN}//evil.example`)
  for (const target of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    `blob:${ORIGIN}/a`,
    'http://[',
  ]) {
    const { status, error } = await make(user.token, `?redirectTo=${encodeURIComponent(target)}`)
    assert.equal([status, error.code], [400, 'invalid_request'], target)
  }
})

test('the page has the address that the client has reached, or the public one', async () => {
  const originAt = async (host: string, env: Record<string, string> = {}) => {
    const node = await openNode({ env })
    const { token } = await start({}, node)
    const { status, data } = await make(token, '', { host }, node)
    return status === 200 ? new URL((data as { url: string }).url).origin : status
  }
  assert.is(await originAt('localhost:3000'), 'http://localhost:3000')
  assert.is(await originAt(HOST, { PUBLIC_URL: 'https://traces.example.org' }), 'https://traces.example.org')
  assert.is(await originAt('127.0.0.1:3001', { HOST: '0.0.0.0' }), 'http://127.0.0.1:3001')
  assert.is(await originAt('192.0.2.7:3000', { HOST: '0.0.0.0' }), 403)
})

test('behind https the cookie is for this host only, and secure', async () => {
  const node = await openNode({ env: { PUBLIC_URL: 'https://traces.example.org' } })
  const { token } = await start({}, node)
  const { data } = await make(token, '', {}, node)
  const headers = { host: 'traces.example.org', origin: 'https://traces.example.org' }
  const answer = await submit(codeOf((data as { url: string }).url), headers, node)
  assert.match(String(answer.headers['set-cookie']), /^__Host-tracebook=tb_[^;]+; Path=\/; Max-Age=\d+; .*; Secure$/)
})

test('only a signed-in caller makes such a page', async () => {
  for (const token of [undefined, 'tb_made-up']) assert.is((await make(token)).status, 401)
})

test.run()
