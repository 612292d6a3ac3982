import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { LOOPBACK, ORIGIN, formOf, openWithProvider } from './support/world.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('the page that asks before a sign-in')
const world = await openWithProvider(test, (url) => ({ CODEHOST_ISSUER: url }))
const { call, provider, start, consent, arrive, answer, review, complete, signIn, device, other, clock, service } =
  world

const person = (id: string) => {
  provider.account = { id, login: `login-${id}` }
}
const identitiesOf = async ({ token }: NewSession) =>
  ((await call('GET', '/v1/user/identities', { token })).data as { identities: { id: string; type: string }[] })
    .identities
const codeIn = (body: string) => /<code>([\w-]+)<\/code>/.exec(body)?.[1]
const codeAt = (location: unknown) => new URL(String(location)).searchParams.get('exchangeCode')!
const asked = async (body: object = {}) => {
  const started = await start(body)
  return { ...started, page: await arrive(await consent(started)) }
}
const cookieOf = (page: Awaited<ReturnType<typeof arrive>>) => String(page.headers['set-cookie']).split(';')[0]!

test('the redirect from the code host shows no code, redirects nowhere and links nothing', async () => {
  person('1')
  const stranger = await device('of a stranger')
  const before = await service.log.head()
  for (const redirectTo of [undefined, LOOPBACK]) {
    const body = { deviceId: 'of a stranger', ...(redirectTo ? { redirectTo } : {}) }
    const { page } = await asked(body)
    assert.equal([page.statusCode, page.headers.location, codeIn(page.body)], [200, undefined, undefined])
  }
  assert.equal(await typesSince(service.log, before), [])
  assert.is((await identitiesOf(stranger)).length, 1)
})

test('a yes gives the code, and nothing is linked before the code is used', async () => {
  person('2')
  const owner = await device('two')
  const { state, page } = await asked({ deviceId: 'two' })
  const before = await service.log.head()
  const shown = await answer(page, 'yes')
  assert.equal(await typesSince(service.log, before), [])
  assert.is((await identitiesOf(owner)).length, 1)
  assert.is((await complete(state, codeIn(shown.body)!)).status, 200)
  assert.is((await identitiesOf(owner)).length, 2)
})

test('the page shows the device, the account, and the user that the account will belong to', async () => {
  person('3')
  const made = await asked({ deviceId: 'three', deviceName: '<b>laptop</b>\u202e' })
  assert.match(made.page.body, '<dd><bdi>&lt;b&gt;laptop&lt;/b&gt;⟨U+202E⟩</bdi></dd>')
  assert.match(made.page.body, '<dd><bdi>login-3</bdi></dd>')
  assert.match(made.page.body, 'A new user will be made')
  const unnamed = await asked({ deviceId: 'three', redirectTo: LOOPBACK })
  assert.match(unnamed.page.body, 'a device that gives no name')
  assert.match(unnamed.page.body, '127.0.0.1:45678 on this machine')

  const { token, namespaceSlug } = await device('three')
  await call('PATCH', '/v1/user', { token, body: { displayName: 'Eve & <i>' } })
  const joins = await asked({ deviceId: 'three' })
  assert.match(
    joins.page.body,
    `joined to <bdi>Eve &amp; &lt;i&gt;</bdi> (<bdi>${namespaceSlug}</bdi>), the user of this`,
  )
  await signIn({ deviceId: 'three' })
  const known = await asked({ deviceId: 'another' })
  assert.match(known.page.body, 'will act as your user <bdi>Eve &amp; &lt;i&gt;</bdi>')
})

test('the page cannot be framed, runs no inline scripts, and posts its form only to the service and the target of the redirect', async () => {
  person('4')
  for (const [redirectTo, targets] of [
    [undefined, "'self'"],
    [LOOPBACK, "'self' http://127.0.0.1:45678"],
    ['http://[::1]:45678/done', "'self' http:"],
  ] as const) {
    const { page } = await asked(redirectTo ? { redirectTo } : {})
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
    assert.ok(policy.includes(`; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'; `), policy)
    assert.equal([page.headers['x-frame-options'], page.headers['cache-control']], ['DENY', 'no-store'])
    assert.is(page.headers['referrer-policy'], 'same-origin')
    assert.match(cookieOf(page), /^tracebook-signin=[\w-]{43}$/)
  }
})

test('a no ends the sign-in, and the client that waits for the redirect is told', async () => {
  person('5')
  const [told, sent] = [await asked(), await asked({ redirectTo: LOOPBACK })]
  const page = await answer(told.page, 'no')
  assert.equal([page.statusCode, codeIn(page.body)], [200, undefined])
  assert.match(page.body, 'Nothing was joined')
  const { statusCode, headers } = await answer(sent.page, 'no')
  assert.equal([statusCode, headers.location], [303, `${LOOPBACK}?state=${sent.state}&error=forbidden`])
  for (const { page } of [told, sent]) assert.is((await answer(page, 'yes')).statusCode, 400)
})

test('an answer counts once, also on another node', async () => {
  person('6')
  const { state, page } = await asked({ redirectTo: LOOPBACK })
  const answers = await Promise.all([
    answer(page, 'yes'),
    answer(page, 'yes', {}, other),
    answer(page, 'no', {}, other),
  ])
  const statuses = answers.map(({ statusCode }) => statusCode).sort()
  assert.equal(statuses, [303, 400, 400])
  const { headers } = answers.find(({ statusCode }) => statusCode === 303)!
  const isYes = String(headers.location).includes('exchangeCode')
  if (isYes) assert.is((await complete(state, codeAt(headers.location))).status, 200)
})

test('an answer from another site, from another browser, or with wrong secrets is refused', async () => {
  person('7')
  const { page, state } = await asked()
  const theirs = (await asked({ deviceId: 'of the attacker' })).page
  for (const [headers, status] of [
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ cookie: '' }, 400],
    [{ cookie: cookieOf(theirs) }, 400],
    [{ accept: 'text/html', cookie: 'tracebook-signin=x' }, 400],
  ] as const) {
    for (const said of ['yes', 'no'] as const) {
      const refused = await answer(page, said, headers)
      assert.is(refused.statusCode, status, JSON.stringify(headers))
      assert.is(codeIn(refused.body), undefined)
    }
  }
  const { action, ...fields } = formOf(page.body)
  const unsaid = await world.app.inject({
    method: 'POST',
    url: action!,
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: cookieOf(page) },
    payload: new URLSearchParams({ ...fields, answer: 'yes' }).toString(),
  })
  assert.is(unsaid.statusCode, 403, 'a form whose page is not said')
  const { confirmation } = fields
  for (const code of [confirmation!, `unconfirmed ${confirmation}`, ''])
    assert.is((await complete(state, code)).status, 400)
  const post = (payload: string, type: string) =>
    world.app.inject({ method: 'POST', url: '/v1/auth/confirm', headers: { 'content-type': type }, payload })
  for (const payload of ['', 'state=x', `state=${state}&confirmation=${confirmation}&answer=maybe`, 'x'.repeat(5_000)])
    assert.ok([400, 413].includes((await post(payload, 'application/x-www-form-urlencoded')).statusCode))
  assert.is((await post(`state=${state}`, 'text/plain')).statusCode, 400)
  assert.is((await answer(page, 'yes')).statusCode, 200)
})

test('forms are accepted by the route of the confirmation page only', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const url of ['/v1/auth/start', '/v1/auth/complete', '/v1/auth/review', '/v1/session']) {
    const payload = 'deviceId=form&state=x&exchangeCode=x'
    assert.is((await world.app.inject({ method: 'POST', url, headers, payload })).statusCode, 400, url)
  }
})

test('a confirmation is possible until ten minutes after the start', async () => {
  person('8')
  const { page } = await asked()
  clock.now += 600_000
  assert.is((await answer(page, 'yes')).statusCode, 400)
})

test('two sign-ins in one browser can both be confirmed there', async () => {
  person('9')
  const first = await asked({ deviceId: 'nine' })
  const second = await arrive(await consent(await start({ deviceId: 'ten' })), { cookie: cookieOf(first.page) })
  assert.is(cookieOf(second), cookieOf(first.page))
  const begun = await world.app.inject({
    method: 'POST',
    url: '/v1/auth/start',
    headers: { cookie: cookieOf(second) },
    payload: { deviceId: 'tab', redirectTo: `${ORIGIN}/me` },
  })
  assert.is(String(begun.headers['set-cookie']).split(';')[0], cookieOf(second))
  for (const page of [first.page, second]) assert.is((await answer(page, 'yes')).statusCode, 200)
})

test('a review shows what a code would link, can be repeated, and links nothing', async () => {
  person('10')
  const { token, userId, namespaceSlug } = await device('ten of ten')
  const { state, page } = await asked({ deviceId: 'ten of ten', deviceName: 'ten' })
  const code = codeIn((await answer(page, 'yes')).body)!
  const avatarUrl = 'https://pictures.example/login-10.png'
  const account = { login: 'login-10', avatarUrl }
  const expected = { account, deviceName: 'ten', joining: 'joins', user: { id: userId }, namespaceSlug }
  const before = await service.log.head()
  for (let i = 0; i < 2; i++) assert.equal((await review(state, code)).data, expected)
  assert.equal(await typesSince(service.log, before), [])
  assert.is((await review(state, `${code}x`)).status, 400)
  assert.is((await complete(state, code)).status, 200)
  assert.is((await review(state, code)).status, 400)
  assert.is((await call('GET', '/v1/user', { token })).status, 200)
})

test('an account is not linked to a user that the device got between the confirmation and the code', async () => {
  person('11')
  const { state, page } = await asked({ deviceId: 'eleven' })
  assert.match(page.body, 'A new user will be made')
  const { token } = await device('eleven')
  const code = codeIn((await answer(page, 'yes')).body)!
  const answered = await complete(state, code)
  assert.equal([answered.status, answered.error.code], [400, 'invalid_request'])
  const { identities } = (await call('GET', '/v1/user/identities', { token })).data as { identities: unknown[] }
  assert.is(identities.length, 1)
})

test('an account that was removed between the confirmation and the code is not linked again', async () => {
  person('12')
  const victim = await signIn({ deviceId: 'twelve' })
  const { state, page } = await asked({ deviceId: 'of a thief' })
  assert.match(page.body, 'will act as your user')
  const code = codeIn((await answer(page, 'yes')).body)!
  const { status } = await call('DELETE', `/v1/user/identities/${victim.identityId}`, {
    token: (await device('twelve')).token,
  })
  assert.is(status, 200)
  assert.is((await complete(state, code)).status, 400)
  assert.is((await device('of a thief')).userId === victim.userId, false)
})

test('an account that was linked to the wrong user, and removed, is linked to the device of its owner', async () => {
  person('13')
  const stranger = await signIn({ deviceId: 'stranger' })
  const own = await device('owner')
  assert.is((await signIn({ deviceId: 'owner' })).userId, stranger.userId)
  const { identityId, token } = await signIn({ deviceId: 'owner' })
  assert.is((await call('DELETE', `/v1/user/identities/${identityId}`, { token })).status, 200)
  assert.is((await call('GET', '/v1/session', { token })).status, 401)
  const after = await signIn({ deviceId: 'owner' })
  assert.is(after.userId, own.userId)
  assert.is.not(after.identityId, identityId)
  assert.is((await device('stranger')).userId, stranger.userId)
  assert.is((await signIn({ deviceId: 'a third one' })).userId, own.userId)
})

test('a removed account without any other device becomes a new user', async () => {
  person('14')
  const first = await signIn({ deviceId: 'fourteen' })
  await call('DELETE', `/v1/user/identities/${first.identityId}`, { token: first.token })
  const second = await signIn({ deviceId: 'fifteen' })
  assert.is.not(second.userId, first.userId)
  assert.is((await device('fifteen')).userId, second.userId)
  assert.equal((await identitiesOf(second)).map(({ type }) => type).sort(), ['codehost', 'device'])
})

test('a sign-in from a page of the service ends with a cookie and without a question, in the browser that started it', async () => {
  person('15')
  const url = '/v1/auth/start'
  const payload = { deviceId: 'tab', redirectTo: `${ORIGIN}/me` }
  const begun = await world.app.inject({ method: 'POST', url, payload })
  const back = await consent(begun.json().data)
  assert.is((await arrive(back, { cookie: String(begun.headers['set-cookie']).split(';')[0]! })).statusCode, 302)
})

test.run()
