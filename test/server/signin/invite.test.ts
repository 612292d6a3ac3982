import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../../src/contract/invites.ts'
import type { MemberView } from '../../../src/contract/members.ts'
import type { CurrentSession } from '../../../src/contract/sessions.ts'
import { invitePath } from '../../../src/server/pages/links.ts'
import { buildApp } from '../../../src/server/service/app.ts'
import { type FormBrowser, browserOf, formWith, newFormBrowser } from '../../support/form-browser.ts'
import type { App } from '../../support/open-app.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { typesSince } from '../../support/types-since.ts'
import { callerOf, signIn } from '../../support/world.ts'
import { invitesOf } from './support/invites.ts'
import { refusedIn } from './support/refused-in.ts'

const test = suite('the page of an invite, without a code host')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const { clock, node, other, openNode } = await openTwoNodes(test)
const { service } = node
/** A node of the same service that lets in nobody new. */
const closed = await openNode({ env: { SIGN_UP: 'off' } })

const ada = await signIn(node)
await ada.send('PATCH', '/v1/user', { displayName: 'Ada & <i>' })
const { slug } = await ada.newTeam('the-team')
const team = `/v1/namespaces/${slug}`

const { invite, usesOf } = invitesOf(ada, slug)
const roleOf = async (userId: string) => {
  const { members } = await ada.send<{ members: MemberView[] }>('GET', `${team}/members`)
  return members.find(({ user }) => user.id === userId)?.role
}
const since = (before: bigint) => typesSince(service.log, before)
const head = () => service.log.head()

const newBrowser = (at: Pick<App, 'app'> = node) => newFormBrowser(at)
/** A browser in which somebody is signed in. */
const as = ({ token }: { token: string }) => browserOf(node, token)
const sessionIn = async ({ cookies }: FormBrowser): Promise<CurrentSession> =>
  callerOf(node, cookies.get('tracebook')).send('GET', '/v1/session')

const NEW_PERSON = 'Join as a new person in this browser'
/** Becomes a member in a browser that nobody has signed in with. */
const joinAs = async (displayName: string, code: string) => {
  const browser = newBrowser()
  await browser.open(invitePath(code))
  const { statusCode, headers } = await browser.press(NEW_PERSON, { displayName })
  assert.equal([statusCode, headers.location], [303, `/@${slug}`])
  return browser
}

test('says who invites to what, in which role, until when; opening it, however often, changes nothing', async () => {
  const code = await invite({ role: 'admin' })
  const before = await head()
  const browser = newBrowser()
  for (const headers of [{}, { 'sec-purpose': 'prefetch' }, { purpose: 'prefetch' }]) {
    const { statusCode, headers: answered, body } = await browser.open(invitePath(code), headers)
    assert.is(statusCode, 200)
    assert.match(body, 'Ada &amp; &lt;i&gt;')
    assert.match(browser.text(), /To\s*the-team \(@the-team\)/)
    assert.match(browser.text(), /As\s*an admin/)
    assert.match(browser.text(), /Until\s*2 Jan 2026, 00:00 UTC/)
    assert.equal([answered['cache-control'], answered['referrer-policy']], ['no-store', 'same-origin'])
    assert.match(body, '<meta name="robots" content="noindex">')
    assert.not.match(body, ada.userId)
  }
  const { statusCode, body } = await node.app.inject({ method: 'HEAD', url: invitePath(code) })
  assert.equal([statusCode, body], [200, ''])
  assert.equal(await since(before), [])
  assert.equal([...browser.cookies.keys()], ['tracebook-browser'], 'it does not name anybody yet')
  assert.is(await usesOf(code), 0)
})

test('whoever is signed in joins by the button, and goes on in the namespace', async () => {
  const [bob, code] = [await signIn(node), await invite()]
  const browser = as(bob)
  await browser.open(invitePath(code))
  assert.match(browser.text(), `You are${bob.namespaceSlug}`)
  const { statusCode, headers } = await browser.press('Join as')
  assert.equal([statusCode, headers.location], [303, '/@the-team'])
  assert.equal([await roleOf(bob.userId), await usesOf(code)], ['member', 1])
  assert.is((await sessionIn(browser)).namespace?.slug, slug)
  const again = await browser.open(invitePath(code))
  assert.is(again.statusCode, 200)
  assert.match(again.body, '<a class="btn main" href="/@the-team">')
  const { headers: repeated } = await browser.post(`${invitePath(code)}/accept`, {})
  assert.equal([repeated.location, await usesOf(code)], ['/@the-team', 1])
})

test('a session that has ended meanwhile leads back to the page', async () => {
  const [bob, code] = [await signIn(node), await invite()]
  const browser = as(bob)
  await browser.open(invitePath(code))
  await bob.send('DELETE', '/v1/session')
  const { statusCode, headers } = await browser.press('Join as')
  assert.equal([statusCode, headers.location], [303, invitePath(code)])
  assert.is(await usesOf(code), 0)
})

test('a new person is a device of their browser, by a cookie that only the service reads', async () => {
  const code = await invite()
  const browser = newBrowser()
  const { headers: shown } = await browser.open(invitePath(code))
  const id = browser.cookies.get('tracebook-browser')!
  assert.match(
    String(shown['set-cookie']),
    /^tracebook-browser=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/,
  )
  const { statusCode, headers } = await browser.press(NEW_PERSON, { displayName: ' Bea ' })
  assert.equal([statusCode, headers.location], [303, '/@the-team'])
  const [session, device] = headers['set-cookie'] as string[]
  assert.match(session!, /^tracebook=tb_[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/)
  assert.is(device, `tracebook-browser=${id}; Path=/; Max-Age=${400 * 86_400}; HttpOnly; SameSite=Lax`)
  const { user, namespace } = await sessionIn(browser)
  assert.equal([user.displayName, namespace?.slug, namespace?.role], ['Bea', slug, 'member'])
  assert.equal([await roleOf(user.id), await usesOf(code)], ['member', 1])
  const { identities } = await callerOf(node, browser.cookies.get('tracebook')).send<{
    identities: { type: string }[]
  }>('GET', '/v1/user/identities')
  assert.equal(
    identities.map(({ type }) => type),
    ['device'],
  )
})

test('the cookies are bound to https wherever others reach the service, also where an invite is needed', async () => {
  const far = await openNode({ env: { PUBLIC_URL: 'https://traces.example.org', SIGN_UP: 'invited' } })
  const browser = newFormBrowser(far, 'https://traces.example.org')
  const { headers } = await browser.open(invitePath(await invite()))
  assert.match(String(headers['set-cookie']), /^__Host-tracebook-browser=[\w-]{43}; .*; Secure$/)
  const joined = await browser.press(NEW_PERSON, { displayName: 'Far' })
  assert.is(joined.statusCode, 303)
  for (const line of joined.headers['set-cookie'] as string[]) assert.match(line, /^__Host-.*; Secure$/)
})

test('the same browser signs in again after its session has ended, for another 400 days', async () => {
  const browser = await joinAs('Cleo', await invite())
  const { user } = await sessionIn(browser)
  await browser.post('/settings/sign-out', {})
  assert.equal([...browser.cookies.keys()], ['tracebook-browser'])
  await browser.open(`/signin?next=${encodeURIComponent('/@the-team')}`)
  const before = await head()
  const { statusCode, headers } = await browser.press('Go on as Cleo')
  assert.equal([statusCode, headers.location], [303, '/@the-team'])
  assert.match(String((headers['set-cookie'] as string[])[1]), `Max-Age=${400 * 86_400};`)
  assert.is((await sessionIn(browser)).user.id, user.id)
  assert.equal(await since(before), ['SessionCreated'])
})

test('a browser that knows its user joins as that user', async () => {
  const browser = await joinAs('Dora', await invite())
  const { user } = await sessionIn(browser)
  await browser.post('/settings/sign-out', {})
  const second = await ada.newTeam('second-team')
  const { code } = (
    await ada.send<{ invite: InviteView }>('POST', `/v1/namespaces/${second.slug}/invites`, { maxUses: 2 })
  ).invite
  await browser.open(invitePath(code))
  assert.not.match(browser.text(), NEW_PERSON)
  assert.is((await browser.press('Join as Dora')).headers.location, '/@second-team')
  const now = await sessionIn(browser)
  assert.equal([now.user.id, now.namespace?.slug], [user.id, 'second-team'])
})

test('each end says what to do next', async () => {
  const [used, revoked, expired] = [await invite(), await invite(), await invite()]
  const bob = await signIn(node)
  const member = await joinAs('Eve', used)
  await ada.send('DELETE', `${team}/invites/${revoked}`)
  const shownTo = async (browser: FormBrowser, code: string, at: App = node) => {
    const { statusCode, body } = await browser.open(invitePath(code), {}, at)
    return { status: statusCode, text: browser.text(), body }
  }
  const addressed = await invite({ email: 'ada@example.org' })
  for (const [title, status, browser, code, next, at] of [
    ['This invite is used up', 410, newBrowser(), used, 'href="/signin?next=%2F%40the-team"'],
    ['This invite is used up', 410, as(bob), used, 'href="/@the-team"'],
    ['You are in the-team', 200, member, used, 'href="/@the-team"'],
    ['This invite was taken back', 410, newBrowser(), revoked, 'href="/signin?next=%2F%40the-team"'],
    ['There is no such invite', 404, newBrowser(), 'nosuchone', 'href="/"'],
    ['This invite is for another address', 403, as(bob), addressed, 'href="/"'],
    ['is for one e-mail address, which a new person', 403, newBrowser(), addressed, 'href="/signin?next='],
    ['This service lets in no new people', 403, newBrowser(), await invite(), 'href="/signin?next=', closed],
  ] as const) {
    const { status: got, text, body } = await shownTo(browser, code, at)
    assert.is(got, status, title)
    assert.match(text, title)
    assert.ok(body.includes(next), `${title}: ${next}`)
    assert.not.match(body, 'ada@example.org')
  }
  clock.now += DAY
  for (const browser of [newBrowser(), as(bob)]) {
    const { status, text } = await shownTo(browser, expired)
    assert.is(status, 410)
    assert.match(text, 'This invite has expired')
    assert.match(text, 'Ask Ada & <i>, or another admin of @the-team, for another one')
  }
})

const refused = refusedIn(service.log)

test('the forms are taken from own pages only, and that for new people from the browser that was shown it', async () => {
  const code = await invite()
  const [browser, signedIn, another] = [newBrowser(), as(await signIn(node)), newBrowser()]
  for (const one of [browser, signedIn, another]) await one.open(invitePath(code))
  const foreign = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: '', 'sec-fetch-site': '' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    assert.is((await refused(() => browser.press(NEW_PERSON, { displayName: 'Eve' }, headers))).status, 403)
    assert.is((await refused(() => signedIn.press('Join as', {}, headers))).status, 403)
  }
  const cookieOf = ({ cookies }: FormBrowser) => ({ cookie: `tracebook-browser=${cookies.get('tracebook-browser')}` })
  for (const headers of [{ cookie: '' }, { cookie: 'tracebook-browser=x' }, cookieOf(another)]) {
    const { status, body } = await refused(() => browser.press(NEW_PERSON, { displayName: 'Eve' }, headers))
    assert.is(status, 403)
    assert.match(body, 'allow cookies of this service')
    assert.ok(body.includes(`href="${invitePath(code)}"`))
  }
  for (const token of ['', 'x'])
    assert.is((await refused(() => browser.press(NEW_PERSON, { displayName: 'Eve', token }))).status, 403)
  assert.is(await usesOf(code), 0)
  assert.is((await browser.press(NEW_PERSON, { displayName: 'Eve' })).statusCode, 303)
})

test('a new person is not let in by an invite for an address, nor where nobody new is let in, and it is said', async () => {
  const [addressed, open] = [await invite({ email: 'ada@example.org' }), await invite()]
  const browser = newBrowser()
  const { token = '' } = formWith((await browser.open(invitePath(open))).body, NEW_PERSON).fields
  const one = await refused(() => browser.post(`${invitePath(addressed)}/join`, { token, displayName: 'Eve' }))
  assert.is(one.status, 403)
  assert.match(one.body, 'for another e-mail address')
  const two = await refused(() => browser.post(`${invitePath(open)}/join`, { token, displayName: 'Eve' }, {}, closed))
  assert.is(two.status, 403)
  assert.match(two.body, 'lets in no new users')
  assert.is((await refused(() => browser.post(`${invitePath('nosuchone')}/join`, { token }))).status, 404)
  const bob = as(await signIn(node))
  assert.is((await refused(() => bob.post(`${invitePath(addressed)}/accept`, {}))).status, 403)
})

test('a form that is sent twice makes one person and spends one use, on whichever node', async () => {
  const code = await invite({ maxUses: 5 })
  const browser = newBrowser()
  await browser.open(invitePath(code))
  const before = await head()
  const sent = [node, other, node, other].map((at) => browser.press(NEW_PERSON, { displayName: 'Fay' }, {}, at))
  assert.equal((await Promise.all(sent)).map(({ statusCode }) => statusCode), [303, 303, 303, 303]) // prettier-ignore
  const events = await since(before)
  for (const type of ['UserCreated', 'IdentityCreated', 'NamespaceCreated'])
    assert.is(events.filter((one) => one === type).length, 1, type)
  assert.is(await usesOf(code), 1)
})

test('of two who accept the last use one joins, and nothing of the other one is stored', async () => {
  const code = await invite()
  const browsers = [newBrowser(), newBrowser(), as(await signIn(node))]
  for (const one of browsers) await one.open(invitePath(code))
  const before = await head()
  const sent = browsers.map((one, i) => one.press('Join as', { displayName: 'Gil' }, {}, i % 2 ? other : node))
  const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode)
  assert.equal(statuses.toSorted(), [303, 410, 410])
  const made = statuses.indexOf(303) < 2 ? 1 : 0
  assert.is((await since(before)).filter((one) => one === 'UserCreated').length, made)
  assert.is(await usesOf(code), 1)
  const loser = browsers.find(({ text }) => text().includes('This invite is used up'))
  assert.ok(loser)
})

test('an invite that is revoked between the page and the button lets nobody in', async () => {
  const code = await invite()
  const browsers = [newBrowser(), as(await signIn(node))]
  for (const one of browsers) await one.open(invitePath(code))
  await ada.send('DELETE', `${team}/invites/${code}`)
  for (const one of browsers) {
    const { status, body } = await refused(() => one.press('Join as', { displayName: 'Hal' }))
    assert.is(status, 410)
    assert.match(body, 'This invite was taken back')
  }
})

test('a sign-up that broke off after the invite was accepted goes on in the same browser', async () => {
  const code = await invite()
  const browser = newBrowser()
  await browser.open(invitePath(code))
  const dies = () => Promise.reject(new Error('killed'))
  const broken = await buildApp({ ...service, identities: { ...service.identities, transact: dies } })
  const killed = await browser.press(NEW_PERSON, { displayName: 'Ida' }, {}, { app: broken })
  assert.is(killed.statusCode, 500)
  await broken.close()
  assert.is(await usesOf(code), 1)
  assert.is((await newBrowser().open(invitePath(code))).statusCode, 410)
  assert.is((await browser.open(invitePath(code))).statusCode, 200)
  assert.is((await browser.press(NEW_PERSON, { displayName: 'Ida' })).headers.location, '/@the-team')
  assert.equal([(await sessionIn(browser)).user.displayName, await usesOf(code)], ['Ida', 1])
})

test('who was removed does not come back by an older invite, and is told', async () => {
  const code = await invite({ maxUses: 0 })
  const browser = await joinAs('Jon', code)
  const { user } = await sessionIn(browser)
  await ada.send('DELETE', `${team}/members/${user.id}`)
  await browser.open(invitePath(code))
  const { status, body } = await refused(() => browser.press('Join as'))
  assert.is(status, 403)
  assert.match(body, 'An admin has removed you')
  assert.ok(body.includes(`href="${invitePath(code)}"`))
})

test('codes cannot be tried out: an address has as many look-ups as in the API, together', async () => {
  const limited = await openNode({ env: { RATE_LIMITS: 'on', RATE_LIMIT_INVITE_LOOKUPS: '3' } })
  const ask = async (path: string) => (await newBrowser(limited).open(path)).statusCode
  const asked = [await ask('/invite/nosuchone'), await ask('/v1/invites/nosuchone'), await ask('/invite/nosuchone')]
  assert.equal([...asked, await ask('/invite/nosuchone'), await ask('/v1/invites/x')], [404, 404, 404, 429, 429])
})

test.run()
