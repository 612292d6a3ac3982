import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import {
  type ShownInvite,
  type WaysIn,
  invitePage,
  refusedInvitePage,
  unknownInvitePage,
} from '../../src/server/pages/invite.ts'
import { invitePath } from '../../src/server/pages/links.ts'
import type { Page as ShownPage } from '../../src/server/pages/page.ts'
import { browserLinkPage } from '../../src/server/pages/settings.ts'
import { browserPage, joinProblemPage, knownPage, needsInvitePage, signInPage } from '../../src/server/pages/sign-in.ts'
import { type Person, signIn } from '../support/world.ts'
import { checkAll } from './support/axe.ts'
import { browserSuite, scriptStarted } from './support/browser-suite.ts'

const { test, visit, world, run } = browserSuite('an invite, and a browser alone')

/** The browser says so of the pages of invites that have ended. */
const expected = /status of 4(?:03|10)/

let admin: Promise<Person> | undefined
const ada = () =>
  (admin ??= (async () => {
    const person = await signIn(world().app)
    await person.send('PATCH', '/v1/user', { displayName: 'Ada' })
    await person.send('POST', '/v1/namespaces', { slug: 'the-team', displayName: 'The team' })
    return person
  })())
const invite = async (body: object = {}) => {
  const { send } = await ada()
  const made = await send<{ invite: InviteView }>('POST', '/v1/namespaces/the-team/invites', body)
  return made.invite.code
}
const revoke = async (code: string) => (await ada()).send('DELETE', `/v1/namespaces/the-team/invites/${code}`)

/** Moves the focus by the Tab key to a control with this text. */
const tabTo = async (page: Page, text: string) => {
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab')
    const label = await page.evaluate<string>(
      '(document.activeElement.labels?.[0] ?? document.activeElement).textContent',
    )
    if (label.includes(text)) return
  }
  assert.unreachable(`no control “${text}”`)
}
const heading = (page: Page) => page.locator('main h1').innerText()

for (const javaScriptEnabled of [true, false])
  test(`by the keyboard alone a new person joins, leaves and comes back, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
    const page = await visit(invitePath(await invite()), { javaScriptEnabled })
    assert.is(await heading(page), 'Join The team')
    await tabTo(page, 'Your name')
    await page.keyboard.type('Bea')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/@the-team')
    await page.goto(`${world().server}/settings`)
    await tabTo(page, 'Sign out')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${world().server}/`)
    await page.goto(`${world().server}/signin?next=%2F%40the-team`)
    await tabTo(page, 'Go on as Bea')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/@the-team')
    assert.is(await page.locator('.bar .me').innerText(), 'BE')
  })

test('a link of the settings, copied by its button, signs in another browser', async () => {
  const { token } = await ada()
  const page = await visit('/settings', { token })
  await page.getByRole('button', { name: 'Make a link' }).click()
  await scriptStarted(page)
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.locator('.said', { hasText: /Link (?:could not be )?copied/ }).waitFor()
  const link = await page.locator('.cmd code').innerText()
  const { pathname, search } = new URL(link)
  const other = await visit(pathname + search)
  await other.getByRole('button', { name: 'Sign in' }).click()
  await other.waitForURL(`${world().server}/`)
  await other.goto(`${world().server}/settings`)
  assert.is(await other.locator('#identities .tag', { hasText: 'this browser' }).count(), 1)
  const again = await visit(pathname + search, { expected })
  assert.match(await again.locator('main').innerText(), 'has been used')
})

const shown: ShownInvite = {
  ...{ code: 'a1B2c3D4e', invitedBy: 'Ada of the parsers', isForAddress: true, isSignedIn: true },
  invite: {
    ...({ role: 'member', state: 'pending' } as const),
    expiresAt: Date.UTC(2026, 0, 2),
    namespace: { slug: 'the-team', displayName: 'The team with a rather long name' },
  },
}
const user = { user: { id: 'x', displayName: 'Bea with a rather long name' }, namespaceSlug: 'user-1234abcd' }
/** Names as long as they may be, without a place to break them. */
const long = { user: { id: 'x', displayName: 'W'.repeat(256) }, namespaceSlug: 'w'.repeat(64) }
const toLong: ShownInvite = {
  ...{ ...shown, invitedBy: 'W'.repeat(256) },
  invite: { ...shown.invite, namespace: { slug: 'w'.repeat(64), displayName: 'W'.repeat(256) } },
}
const ways = { known: undefined, codehost: undefined, newcomers: 'welcome', token: 'x' } as const
const isSignedIn = false

const states: readonly ShownPage[] = [
  invitePage(shown, { is: 'member' }),
  invitePage(shown, { is: 'ready', user }),
  invitePage(shown, { is: 'other address', user, codehost: undefined }),
  invitePage(shown, { is: 'other address', user, codehost: 'github.com' }),
  ...(['revoked', 'expired', 'accepted'] as const).flatMap((state) => [
    invitePage(shown, { is: 'ended', state }),
    invitePage({ ...shown, invitedBy: undefined, isSignedIn }, { is: 'ended', state }),
  ]),
  ...[
    ways,
    { ...ways, known: user },
    { ...ways, newcomers: 'address' },
    { ...ways, newcomers: 'closed' },
    { ...ways, codehost: 'github.com', newcomers: 'closed' },
    { ...ways, codehost: 'github.com', newcomers: 'codehost' },
    { ...ways, codehost: 'github.com', newcomers: 'codehost', known: user },
  ].map((one) => invitePage({ ...shown, isSignedIn }, { is: 'signed out', ways: one as WaysIn })),
  invitePage(toLong, { is: 'member' }),
  invitePage(toLong, { is: 'ready', user: long }),
  invitePage(toLong, { is: 'ended', state: 'expired' }),
  signInPage({
    known: long,
    codehost: 'github.com',
    next: '/',
    service: 'https://traces.example.org',
    origin: 'https://traces.example.org',
  }),
  unknownInvitePage,
  refusedInvitePage('a1B2c3D4e', 'An admin has removed you since this invite was made: ask for another one'),
  needsInvitePage,
  browserPage({ user, present: user, deviceName: 'laptop', code: 'x', action: '/', token: 'x' }),
  knownPage(user),
  joinProblemPage('This code has been used: make another one'),
  signInPage({
    known: user,
    codehost: 'github.com',
    next: '/',
    service: 'https://traces.example.org',
    origin: 'https://traces.example.org',
  }),
  browserLinkPage('https://traces.example.org/signin/join?code=4F7K-9QWE-2M8T-X6RB-0ZHA', Date.UTC(2026, 0, 2)),
]

test('all states of these pages, one beneath the other, have nothing that WCAG 2.2 forbids', async () => {
  const page = await visit('/signin')
  const { body, headers } = await world().app.app.inject({ url: '/signin', headers: { accept: 'text/html' } })
  const [before, , after] = body.split(/(?<=<main id="main">)|(?=<\/main>)/)
  const all = [before, ...states.map(({ content }) => content.source), after].join('')
  await page.route('**/all', (route) => route.fulfill({ headers: headers as Record<string, string>, body: all }))
  await page.goto(`${world().server}/all`)
  await scriptStarted(page)
  await checkAll('invites', page)
})

test('a form without its cookie, and an invite that was revoked meanwhile, end on a page with a next step', async () => {
  const [code, other] = [await invite(), await invite()]
  const page = await visit(invitePath(code), { expected })
  await page.context().clearCookies()
  await page.getByLabel('Your name').fill('Dan')
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'You have not joined' }).waitFor()
  await page.getByRole('link', { name: 'Open the invite again' }).click()
  await page.getByLabel('Your name').fill('Dan')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/@the-team')
  await page.goto(world().server + invitePath(other))
  assert.is(await heading(page), 'You are in The team')
  await page.context().clearCookies()
  await page.goto(world().server + invitePath(other))
  await revoke(other)
  await page.getByLabel('Your name').fill('Eve')
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'This invite was taken back' }).waitFor()
  assert.is(await page.locator('main').getByRole('link', { name: 'Sign in' }).count(), 1)
})

run()
