import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { MemberView } from '../../../src/contract/members.ts'
import type { CurrentSession } from '../../../src/contract/sessions.ts'
import { invitePath } from '../../../src/server/pages/links.ts'
import { formTokenOf } from '../../../src/server/signin/browser-device.ts'
import { type FormBrowser, newFormBrowser } from '../../support/form-browser.ts'
import type { App } from '../../support/open-app.ts'
import { typesSince } from '../../support/types-since.ts'
import { callerOf } from '../../support/world.ts'
import { invitesOf } from './support/invites.ts'
import { ORIGIN, githubLike, openWithProvider } from './support/world.ts'

const test = suite('the page of an invite, with a code host')
const world = await openWithProvider(test, githubLike)
const { node, provider, consent, openNode } = world
const [invited, off] = [await openNode({ env: { SIGN_UP: 'invited' } }), await openNode({ env: { SIGN_UP: 'off' } })]

const ada = await world.device('ada')
const { slug } = await ada.newTeam('the-team')
const team = `/v1/namespaces/${slug}`
const { invite, usesOf } = invitesOf(ada, slug)
const memberIds = async () => {
  const { members } = await ada.send<{ members: MemberView[] }>('GET', `${team}/members`)
  return members.map(({ user }) => user.id)
}
const sessionIn = ({ cookies }: FormBrowser): Promise<CurrentSession> =>
  callerOf(node, cookies.get('tracebook')).send('GET', '/v1/session')

const newBrowser = (at: App = node) => newFormBrowser(at, ORIGIN)
let accounts = 0
/** The account that is signed in at the code host from now on. */
const account = (login: string, more: { email?: string; emailVerified?: boolean } = {}) => {
  accounts += 1
  provider.account = { id: String(accounts), login, ...more }
}

const GO_ON = 'Go on with 127.0.0.1'
/** Presses the button of the code host, agrees there, and comes back. */
const goOn = async (browser: FormBrowser, page: string) => {
  const shown = await browser.open(page)
  assert.ok(shown.body.includes(GO_ON), shown.body)
  const started = await browser.press(GO_ON)
  assert.is(started.statusCode, 303, started.body)
  return browser.open(await consent({ authorizeUrl: started.headers.location! }))
}
/** The path of a redirect. */
const pathOf = (location: string | undefined) => location!.replace(ORIGIN, '')

test('a new person at the code host is let in by the invite, also where one is needed, and lands in the namespace', async () => {
  const code = await invite()
  account('bob')
  const browser = newBrowser(invited)
  const page = await browser.open(invitePath(code))
  assert.not.match(page.body, 'as a new person')
  assert.equal([...browser.cookies.keys()], [], 'this browser is not asked to be a device')
  const { statusCode, headers } = await goOn(browser, invitePath(code))
  assert.equal([statusCode, headers.location], [302, '/@the-team'])
  const { user, namespace } = await sessionIn(browser)
  assert.equal([namespace?.slug, await usesOf(code)], [slug, 1])
  assert.ok((await memberIds()).includes(user.id))
})

test('so does one who comes by the page to sign in on, to which the invite leads', async () => {
  const code = await invite()
  account('cleo')
  const browser = newBrowser(invited)
  const { body } = await browser.open(invitePath(code))
  assert.ok(body.includes(`href="/signin?next=${encodeURIComponent(invitePath(code))}"`))
  const { headers } = await goOn(browser, `/signin?next=${encodeURIComponent(invitePath(code))}`)
  assert.equal([headers.location, await usesOf(code)], ['/@the-team', 1])
})

test('a known person comes back to the page of the invite, and decides there', async () => {
  const code = await invite()
  account('dora')
  await goOn(newBrowser(), '/signin')
  const browser = newBrowser(invited)
  const { statusCode, headers } = await goOn(browser, invitePath(code))
  assert.equal([statusCode, pathOf(headers.location)], [302, invitePath(code)])
  assert.is(await usesOf(code), 0)
  await browser.open(invitePath(code))
  assert.is((await browser.press('Join as')).headers.location, '/@the-team')
  assert.equal([(await sessionIn(browser)).namespace?.slug, await usesOf(code)], [slug, 1])
})

test('a new person without an invite, where one is needed, is told to open the link of theirs', async () => {
  account('eve')
  const before = await world.service.log.head()
  const browser = newBrowser(invited)
  const { statusCode, body } = await goOn(browser, '/signin')
  assert.is(statusCode, 403)
  assert.match(browser.text(), 'You need an invite')
  assert.match(browser.text(), 'Open the link of yours')
  assert.match(body, 'href="/signin"')
  assert.not.match(body, 'inviteCode')
  assert.equal(await typesSince(world.service.log, before), [])
})

test('an invite for an address is for the account that has it', async () => {
  const code = await invite({ email: 'fay@example.org' })
  account('mallory', { email: 'fay@example.org', emailVerified: false })
  const before = await world.service.log.head()
  const browser = newBrowser(invited)
  const { statusCode, body } = await goOn(browser, invitePath(code))
  assert.is(statusCode, 403)
  assert.match(browser.text(), 'for another e-mail address')
  assert.ok(body.includes(`href="${invitePath(code)}"`))
  assert.equal(await typesSince(world.service.log, before), [])
  account('fay', { email: 'Fay@example.org', emailVerified: true })
  assert.is((await goOn(browser, invitePath(code))).headers.location, '/@the-team')
})

test('a person whose account has another address is offered the code host again', async () => {
  account('gil', { email: 'gil@example.org', emailVerified: true })
  const browser = newBrowser()
  await goOn(browser, '/signin')
  const code = await invite({ email: 'hal@example.org' })
  const { statusCode, body } = await browser.open(invitePath(code))
  assert.is(statusCode, 403)
  assert.match(browser.text(), 'This invite is for another address')
  assert.not.match(body, 'hal@example.org')
  account('hal', { email: 'hal@example.org', emailVerified: true })
  assert.is((await goOn(browser, invitePath(code))).headers.location, '/@the-team')
})

test('an invite that ends while its reader is at the code host lets nobody in, and its page says why', async () => {
  const [used, revoked] = [await invite(), await invite()]
  const browsers = [newBrowser(invited), newBrowser(invited)]
  const before = await world.service.log.head()
  const started = []
  for (const [i, code] of [used, revoked].entries()) {
    await browsers[i]!.open(invitePath(code))
    started.push(await browsers[i]!.press(GO_ON))
  }
  const ida = await world.device('ida')
  await ida.send('POST', `/v1/invites/${used}/accept`)
  await ada.send('DELETE', `${team}/invites/${revoked}`)
  for (const [i, title] of ['This invite is used up', 'This invite was taken back'].entries()) {
    account(`late-${i}`)
    const { statusCode } = await browsers[i]!.open(await consent({ authorizeUrl: started[i]!.headers.location! }))
    assert.is(statusCode, 410)
    assert.match(browsers[i]!.text(), title)
  }
  const users = (await typesSince(world.service.log, before)).filter((type) => type === 'UserCreated')
  assert.is(users.length, 1, 'Ida only')
})

test('whoever does not agree at the code host is led back to the invite', async () => {
  const code = await invite()
  account('jon')
  provider.consents = false
  const browser = newBrowser(invited)
  const { statusCode, body } = await goOn(browser, invitePath(code))
  provider.consents = true
  assert.is(statusCode, 403)
  assert.match(browser.text(), 'You did not allow')
  assert.ok(body.includes(`href="${invitePath(code)}"`))
})

test('where nobody new is let in it is said, before the code host and after', async () => {
  const code = await invite()
  account('kim')
  const browser = newBrowser(off)
  await browser.open(invitePath(code))
  assert.match(browser.text(), 'This service lets in no new people')
  const { statusCode } = await goOn(browser, invitePath(code))
  assert.is(statusCode, 403)
  assert.match(browser.text(), 'lets in no new users')
  assert.is(await usesOf(code), 0)
})

test('with a code host nobody becomes a new person in a browser alone', async () => {
  const code = await invite()
  const browser = newBrowser()
  const device = 'x'.repeat(43)
  browser.cookies.set('tracebook-browser', device)
  const before = await world.service.log.head()
  const sent = { displayName: 'Lea', token: formTokenOf(device) }
  const { statusCode } = await browser.post(`${invitePath(code)}/join`, sent)
  assert.match(browser.text(), 'New people sign in with the code host here')
  assert.is(statusCode, 403)
  assert.equal(await typesSince(world.service.log, before), [])
})

test.run()
