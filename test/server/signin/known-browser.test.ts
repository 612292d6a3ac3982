import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CurrentSession } from '../../../src/contract/sessions.ts'
import type { IdentityView } from '../../../src/contract/user.ts'
import { buildApp } from '../../../src/server/service/app.ts'
import { type FormBrowser, browserOf, formWith, newFormBrowser } from '../../support/form-browser.ts'
import type { App } from '../../support/open-app.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { typesSince } from '../../support/types-since.ts'
import { type Person, callerOf, signIn } from '../../support/world.ts'
import { refusedIn } from './support/refused-in.ts'

const test = suite('a browser that is a device of its user')
const MINUTE = 60_000
const { clock, node, other } = await openTwoNodes(test)
const { service } = node

const newBrowser = (at: Pick<App, 'app'> = node) => newFormBrowser(at)
const as = ({ token }: { token: string }) => browserOf(node, token)
const callerIn = ({ cookies }: FormBrowser) => callerOf(node, cookies.get('tracebook'))
const sessionIn = (browser: FormBrowser) => callerIn(browser).send<CurrentSession>('GET', '/v1/session')
const identitiesIn = async (browser: FormBrowser) =>
  (await callerIn(browser).send<{ identities: IdentityView[] }>('GET', '/v1/user/identities')).identities

const MAKE = 'Make a link'
/** The path of a new link for another browser, made on the page of the settings. */
const linkOf = async (browser: FormBrowser) => {
  await browser.open('/settings')
  const { statusCode, body, headers } = await browser.press(MAKE)
  assert.equal([statusCode, headers['cache-control']], [200, 'no-store'], body)
  const [, path] = /<code>http:\/\/127\.0\.0\.1:3000(\/signin\/join\?code=[\w-]+)<\/code>/.exec(body) ?? []
  return path!
}
/** A person with a name, in a browser that their terminal has signed in. */
const newPerson = async (displayName: string): Promise<{ person: Person; browser: FormBrowser }> => {
  const person = await signIn(node, undefined, { deviceName: 'laptop' })
  await person.send('PATCH', '/v1/user', { displayName })
  return { person, browser: as(person) }
}
/** A person, with another browser of theirs. */
const withSecond = async (displayName: string) => {
  const made = await newPerson(displayName)
  const second = newBrowser()
  await second.open(await linkOf(made.browser))
  assert.is((await second.press('Sign in')).statusCode, 303)
  return { ...made, second }
}
const head = () => service.log.head()
const since = (before: bigint) => typesSince(service.log, before)

const refused = refusedIn(service.log)

test('the settings make a link, whose page says who will be signed in; opening it changes nothing', async () => {
  const { person, browser } = await newPerson('Ada')
  const path = await linkOf(browser)
  assert.match(browser.text(), /until 1 Jan 2026, 00:10 UTC/)
  const [before, second] = [await head(), newBrowser()]
  for (let i = 0; i < 3; i++) {
    const { statusCode, headers } = await second.open(path, { 'sec-purpose': 'prefetch' })
    assert.equal([statusCode, headers['cache-control'], headers['referrer-policy']], [200, 'no-store', 'strict-origin'])
    assert.match(second.text(), `will be signed in asAda (${person.namespaceSlug})`)
    assert.match(second.text(), 'Asked for bylaptop')
  }
  await node.app.inject({ method: 'HEAD', url: path })
  assert.equal(await since(before), [])
  assert.equal([...second.cookies.keys()], ['tracebook-browser'])
})

test('the button makes that browser a device of the same user, which signs in again later', async () => {
  const { person, second } = await withSecond('Bob')
  const { user } = await sessionIn(second)
  assert.is(user.id, person.userId)
  assert.equal(
    (await identitiesIn(second)).map(({ type }) => type),
    ['device', 'device'],
  )
  await second.post('/settings/sign-out', {})
  await second.open('/signin')
  const { headers } = await second.press('Go on as Bob')
  assert.match(String((headers['set-cookie'] as string[])[1]), `Max-Age=${400 * 86_400}; HttpOnly`)
  assert.is((await sessionIn(second)).user.id, person.userId)
})

test('a link works once, for ten minutes, while the session that made it is valid; its page says so', async () => {
  const { person, browser } = await newPerson('Cleo')
  const [used, late, ended] = [await linkOf(browser), await linkOf(browser), await linkOf(browser)]
  const browsers = [newBrowser(), newBrowser()]
  for (const one of browsers) await one.open(used)
  const sent = await Promise.all(browsers.map((one, i) => one.press('Sign in', {}, {}, i ? other : node)))
  assert.equal(sent.map(({ statusCode }) => statusCode).sort(), [303, 410])
  const waiting = newBrowser()
  await waiting.open(late)
  clock.now += 10 * MINUTE
  const lost = [await refused(() => newBrowser().open(used)), await refused(() => newBrowser().open(late))]
  lost.push(await refused(() => waiting.press('Sign in')))
  clock.now -= 10 * MINUTE
  await person.send('DELETE', '/v1/session')
  lost.push(await refused(() => newBrowser().open(ended)))
  assert.equal(lost.map(({ status }) => status), [410, 410, 410, 410]) // prettier-ignore
  for (const [i, said] of ['has been used', 'has expired', 'has expired', 'has ended'].entries()) {
    assert.match(lost[i]!.body, said)
    assert.match(lost[i]!.body, 'href="/signin"')
  }
  assert.is((await refused(() => newBrowser().open('/signin/join?code=made-up'))).status, 404)
})

test('a form that is sent twice, also after a crash, makes one device', async () => {
  const { person, browser } = await newPerson('Dora')
  const second = newBrowser()
  await second.open(await linkOf(browser))
  const dies = () => Promise.reject(new Error('killed'))
  const broken = await buildApp({ ...service, sessions: { ...service.sessions, read: service.sessions.read, transact: dies } }) // prettier-ignore
  assert.is((await second.press('Sign in', {}, {}, { app: broken })).statusCode, 500)
  await broken.close()
  const before = await head()
  const sent = await Promise.all([node, other].map((at) => second.press('Sign in', {}, {}, at)))
  assert.equal(sent.map(({ statusCode }) => statusCode), [303, 303]) // prettier-ignore
  assert.equal(await since(before), ['SessionCreated', 'SessionCreated'])
  assert.is((await identitiesIn(second)).length, 2)
  assert.is((await sessionIn(second)).user.id, person.userId)
})

test('the forms are taken from own pages only, and that of a link from the browser that was shown it', async () => {
  const { browser, second: known } = await withSecond('Eve')
  const second = newBrowser()
  const path = await linkOf(browser)
  await second.open(path)
  await known.post('/settings/sign-out', {})
  await known.open('/signin')
  await browser.open('/settings')
  const foreign = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: '', 'sec-fetch-site': '' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    assert.is((await refused(() => second.press('Sign in', {}, headers))).status, 403)
    assert.is((await refused(() => known.press('Go on as', {}, headers))).status, 403)
    assert.is((await refused(() => browser.press(MAKE, {}, headers))).status, 403)
  }
  for (const headers of [{ cookie: '' }, { cookie: 'tracebook-browser=x' }])
    assert.is((await refused(() => second.press('Sign in', {}, headers))).status, 403)
  assert.is((await refused(() => second.press('Sign in', { token: 'x' }))).status, 403)
  assert.is((await refused(() => newBrowser().post('/settings/browser', {}))).status, 401)
  assert.is((await second.press('Sign in')).statusCode, 303)
})

test('a browser of another user is not taken from them, and one of the same user needs no link', async () => {
  const [{ second }, { browser }] = [await withSecond('Fay'), await newPerson('Gil')]
  const path = await linkOf(browser)
  const { token = '' } = formWith((await newBrowser().open(path)).body, 'Sign in').fields
  const taken = await refused(() => second.open(path))
  assert.is(taken.status, 409)
  assert.match(taken.body, 'belongs to another user')
  assert.is((await refused(() => second.post('/signin/join', { code: path.split('=')[1]!, token }))).status, 403)
  const own = await withSecond('Hal')
  const { statusCode } = await own.second.open(await linkOf(own.browser))
  assert.is(statusCode, 200)
  assert.match(own.second.text(), 'This browser is yours already')
  assert.is((await own.second.press('Go on as Hal')).statusCode, 303)
})

test('the page names the user who is signed in now, and will not be any more', async () => {
  const [{ browser }, { browser: theirs }] = [await newPerson('Ida'), await newPerson('Jon')]
  await theirs.open(await linkOf(browser))
  assert.match(theirs.text(), 'This browser is signed in as Jon')
  assert.is((await theirs.press('Sign in')).statusCode, 303)
  assert.is((await sessionIn(theirs)).user.displayName, 'Ida')
})

test('signing out leaves the cookie, and the settings say so; removing the browser takes it away', async () => {
  const { person, browser, second } = await withSecond('Kim')
  await second.open('/settings')
  assert.match(second.text(), 'this browser still knows you')
  assert.match(second.text(), 'this browserthis session')
  await browser.open('/settings')
  assert.not.match(browser.text(), 'this browser still knows you')
  const { session } = await sessionIn(second)
  const { headers } = await second.post('/settings/identity/remove', { id: session.identityId })
  assert.is(headers.location, '/')
  assert.equal([...second.cookies.keys()], [])
  const { identities } = await person.send<{ identities: unknown[] }>('GET', '/v1/user/identities')
  assert.is(identities.length, 1)
})

test('a browser that was removed elsewhere signs in nobody, and makes nobody', async () => {
  const { person, second } = await withSecond('Lea')
  const { session } = await sessionIn(second)
  await second.post('/settings/sign-out', {})
  await second.open('/signin?next=/help')
  await person.send('DELETE', `/v1/user/identities/${session.identityId}`)
  const before = await head()
  const { headers } = await second.press('Go on as Lea')
  assert.is(headers.location, '/signin?next=%2Fhelp')
  assert.not.match((await second.open('/signin')).body, 'Go on as')
  assert.equal(await since(before), [])
  for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example'])
    assert.match((await second.post('/signin/browser', { next })).headers.location!, /^\/signin$/)
})

test('signing in again leads to pages of the service only', async () => {
  const { second } = await withSecond('Max')
  for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', '///evil.example']) {
    const { headers } = await second.post('/signin/browser', { next })
    assert.match(headers.location!, /^\/(?![/\\])/, next)
  }
})

test.run()
