import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CurrentSession, NewSession } from '../../../src/contract/sessions.ts'
import { onServer } from '../../support/database.ts'
import { LOOPBACK, ORIGIN, formOf, openWithProvider } from './support/world.ts'

const test = suite('sign-in with an OpenID provider')
const world = await openWithProvider(test, (url) => ({ CODEHOST_ISSUER: url }))
const { call, provider, start, consent, arrive, agree, complete, signIn, device, other, clock } = world
test.before.each(() => {
  provider.consents = true
  provider.isDown = false
})

const person = (id: string, more: object = {}) => {
  provider.account = { id, login: `login-${id}`, email: `${id}@example.org`, emailVerified: true, ...more }
}
const identitiesOf = async ({ token }: NewSession) =>
  ((await call('GET', '/v1/user/identities', { token })).data as { identities: Record<string, unknown>[] }).identities
const codeOf = (location: string | undefined) => new URL(location!).searchParams.get('exchangeCode')!

test('a new device and a new identity make one user', async () => {
  person('1')
  const session = await signIn({ deviceId: 'new device', deviceName: 'laptop' })
  assert.match(session.token, /^tb_/)
  assert.equal([session.deviceName, session.role], ['laptop', 'admin'])
  const both = await identitiesOf(session) // made in the same millisecond, they may stand in either order
  const [one, two] = both.toSorted((a, b) => (String(a.type) > String(b.type) ? -1 : 1))
  assert.equal([one!.type, two!.type], ['device', 'codehost'])
  const { id: _, ...shown } = two!
  const picture = 'https://pictures.example/login-1.png'
  const email = { email: '1@example.org', emailVerified: true }
  assert.equal(shown, { type: 'codehost', login: 'login-1', avatarUrl: picture, ...email })
  assert.is((await device('new device')).userId, session.userId)
})

test("a new identity comes to the device's user", async () => {
  person('2')
  const before = await device('known device')
  const session = await signIn({ deviceId: 'known device' })
  assert.equal([session.userId, session.namespaceId], [before.userId, before.namespaceId])
  assert.is.not(session.identityId, before.identityId)
})

test('an identity that has a user signs in as that user, from any device', async () => {
  person('3')
  const first = await signIn({ deviceId: 'first' })
  const stranger = await device('second')
  const again = await signIn({ deviceId: 'second' })
  assert.is(again.userId, first.userId)
  assert.is.not(again.userId, stranger.userId)
  assert.is((await device('second')).userId, stranger.userId)
})

test('a new identity that two devices sign in with at once gets one user', async () => {
  person('3b')
  const sessions = await Promise.all([signIn({ deviceId: 'left' }), signIn({ deviceId: 'right' })])
  assert.is(sessions[0]!.userId, sessions[1]!.userId)
})

test('a later sign-in updates the profile, also when the address is no longer verified', async () => {
  person('4')
  await signIn({ deviceId: 'four' })
  person('4', { login: 'renamed', emailVerified: false })
  const session = await signIn({ deviceId: 'four' })
  const identity = (await identitiesOf(session)).find(({ type }) => type === 'codehost')!
  assert.equal([identity.login, identity.emailVerified], ['renamed', false])
})

test('an invite for an address can be accepted only with that address, verified by the code host', async () => {
  const admin = await device('admin')
  await call('POST', '/v1/namespaces', { token: admin.token, body: { slug: 'invited', displayName: 'x' } })
  const body = { email: '5@Example.org' }
  const made = await call('POST', '/v1/namespaces/invited/invites', { token: admin.token, body })
  const { code } = (made.data as { invite: { code: string } }).invite
  person('5', { emailVerified: false })
  const accept = async () => {
    const { token } = await signIn({ deviceId: 'five' })
    return (await call('POST', `/v1/invites/${code}/accept`, { token })).status
  }
  assert.is(await accept(), 403)
  person('5')
  assert.is(await accept(), 200)
})

test('state and code of a sign-in work once, also on another node', async () => {
  person('6')
  const started = await start({ redirectTo: LOOPBACK })
  const url = await consent(started)
  const { statusCode, headers } = await agree(url)
  assert.is(statusCode, 303)
  assert.ok(headers.location!.startsWith(`${LOOPBACK}?state=${started.state}&exchangeCode=`))
  for (const node of [world.app, other.app]) assert.is((await node.inject({ url })).statusCode, 400)
  const code = codeOf(headers.location)
  assert.is((await complete(started.state, `${code}x`)).status, 400)
  assert.is((await complete(`${started.state}x`, code)).status, 400)
  const racing = await Promise.all([complete(started.state, code), complete(started.state, code, other)])
  assert.equal(racing.map(({ status }) => status).sort(), [200, 400])
  assert.is((await complete(started.state, code)).status, 400)
})

test('a sign-in expires after ten minutes, before the redirect and after it', async () => {
  person('7')
  const [slow, quick] = [await start({ redirectTo: LOOPBACK }), await start({ redirectTo: LOOPBACK })]
  assert.is(slow.expiresAt, clock.now + 600_000)
  const [slowUrl, { headers }] = [await consent(slow), await agree(await consent(quick))]
  clock.now += 600_000
  assert.is((await arrive(slowUrl)).statusCode, 400)
  assert.is((await complete(quick.state, codeOf(headers.location))).status, 400)
})

test('a user who denies access at the code host is redirected with the error, or shown it', async () => {
  provider.consents = false
  const started = await start({ redirectTo: LOOPBACK })
  const { headers } = await arrive(await consent(started))
  assert.is(headers.location, `${LOOPBACK}?state=${started.state}&error=forbidden`)
  const told = await arrive(await consent(await start()))
  assert.equal([told.statusCode, told.json().error.code], [403, 'forbidden'])
  const page = await arrive(await consent(await start()), { accept: 'text/html' })
  assert.is(page.statusCode, 403)
  assert.match(String(page.headers['content-type']), 'text/html')
})

test('a code of another sign-in, and one that the code host does not know, are refused', async () => {
  person('8')
  const [mine, theirs] = [await start(), await start()]
  const foreign = new URL(await consent(theirs), ORIGIN).searchParams.get('code')!
  for (const code of [foreign, 'made-up']) {
    const query = new URLSearchParams({ state: (await start()).state, code, iss: provider.url })
    const answer = await arrive(`/v1/auth/callback/codehost?${query}`)
    assert.equal([answer.statusCode, answer.json().error.code], [400, 'invalid_request'])
  }
  const mixed = new URLSearchParams({ state: mine.state, code: 'x', iss: 'https://other.example' })
  assert.is((await arrive(`/v1/auth/callback/codehost?${mixed}`)).statusCode, 400)
})

test('a code host that is down gives 503, or an error at the target of the redirect', async () => {
  const [told, sent] = [await start(), await start({ redirectTo: LOOPBACK })]
  const [toldUrl, sentUrl] = [await consent(told), await consent(sent)]
  provider.isDown = true
  const answer = await arrive(toldUrl)
  assert.equal([answer.statusCode, answer.json().error.code], [503, 'unavailable'])
  assert.is(answer.headers['retry-after'], '1')
  assert.is((await arrive(sentUrl)).headers.location, `${LOOPBACK}?state=${sent.state}&error=unavailable`)
})

test('without a redirect target a page shows the code', async () => {
  person('9')
  const started = await start({ deviceName: '<b>laptop</b>' })
  const { statusCode, headers, body } = await agree(await consent(started))
  assert.is(statusCode, 200)
  assert.match(String(headers['content-security-policy']), "default-src 'none'; script-src 'self'; style-src 'self'; ")
  assert.is(headers['cache-control'], 'no-store')
  assert.match(body, '&lt;b&gt;laptop&lt;/b&gt;')
  const code = /<code>([\w-]+)<\/code>/.exec(body)![1]!
  assert.is((await complete(started.state, code)).status, 200)
})

test('a sign-in from a page of the service ends with a cookie, in the browser that started it', async () => {
  person('10')
  const begin = () =>
    world.app.inject({
      method: 'POST',
      url: '/v1/auth/start',
      payload: { deviceId: 'tab', redirectTo: `${ORIGIN}/me` },
    })
  const [mine, foreign] = [await begin(), await begin()]
  assert.is((await arrive(await consent(foreign.json().data))).statusCode, 403)
  const browser = String(mine.headers['set-cookie'])
  assert.match(browser, /^tracebook-signin=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
  const done = await arrive(await consent(mine.json().data), { cookie: browser.split(';')[0]! })
  assert.equal([done.statusCode, done.headers.location], [302, `${ORIGIN}/me`])
  const cookie = String(done.headers['set-cookie'])
  assert.match(cookie, /^tracebook=tb_[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/)
  const shown = await call('GET', '/v1/session', { headers: { cookie: cookie.split(';')[0]! } })
  const { csrfToken } = shown.data as CurrentSession
  assert.match(csrfToken!, /^[\w-]{43}$/)
  const headers = { cookie: cookie.split(';')[0]!, 'x-csrf-token': csrfToken! }
  const left = await world.app.inject({ method: 'DELETE', url: '/v1/session', headers })
  assert.match(String(left.headers['set-cookie']), /^tracebook=; Path=\/; Max-Age=0;/)
})

test('a namespace that the user is no member of is refused', async () => {
  person('11')
  const { namespaceId } = await device('owner')
  for (const [wanted, status] of [
    [namespaceId, 403],
    ['nowhere', 404],
  ] as const) {
    const started = await start({ redirectTo: LOOPBACK, deviceId: 'eleven', namespaceId: wanted })
    const { headers } = await agree(await consent(started))
    assert.is((await complete(started.state, codeOf(headers.location))).status, status)
  }
})

test('of the secrets of a sign-in only hashes are stored', async () => {
  person('12')
  const started = await start({ redirectTo: LOOPBACK, deviceId: 'a device id that is secret' })
  const stored = async () => {
    const { rows } = await onServer(world.database.url, 'select h::text as text from tracebook.handshakes h')
    return rows.map((row) => row.text).join()
  }
  const page = await arrive(await consent(started))
  const { confirmation } = formOf(page.body)
  const browser = /=([\w-]{43});/.exec(String(page.headers['set-cookie']))![1]!
  const asked = await stored()
  const { headers } = await world.answer(page, 'yes')
  const settled = await stored()
  const challenge = new URL(started.authorizeUrl).searchParams.get('code_challenge')!
  for (const secret of [started.state, codeOf(headers.location), 'a device id', challenge, confirmation!, browser])
    assert.not.ok(asked.includes(secret) || settled.includes(secret))
})

test.run()
