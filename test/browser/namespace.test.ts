import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { png } from '../support/pictures.ts'
import { type Person, signIn } from '../support/world.ts'
import { checkAll } from './support/axe.ts'
import { browserSuite } from './support/browser-suite.ts'

const { test, visit, world, run } = browserSuite('the pages of a namespace')

type Team = Readonly<Record<'ada' | 'bob' | 'mallory', Person>>

let made: Promise<Team> | undefined
/** A namespace of three people, with invites. */
const team = () =>
  (made ??= (async () => {
    const { app } = world()
    const [ada, bob, eve, mallory] = [await signIn(app), await signIn(app), await signIn(app), await signIn(app)]
    await ada.send('PATCH', '/v1/user', { displayName: 'Ada' })
    await bob.send('PATCH', '/v1/user', { displayName: 'Bob of the parsers' })
    await ada.send('POST', '/v1/namespaces', { slug: 'acme', displayName: 'Acme', description: 'All that we do.' })
    await ada.admit('acme', bob)
    await ada.admit('acme', eve)
    const url = '/v1/namespaces/acme/invites'
    await ada.send('POST', url, { maxUses: 5, email: 'somebody.with.a.long.name@mail.example.org' })
    await ada.send('POST', url, { maxUses: 0, role: 'admin' })
    await ada.send('PUT', '/v1/traces/mend?namespace=acme', { title: 'Mend the parser' })
    await ada.send('PATCH', '/v1/namespaces/acme', { retentionDays: 60 })
    return { ada, bob, mallory }
  })())

type Place = { readonly path: string; readonly by: keyof Team; readonly before?: (page: Page) => Promise<void> }

/** Sends the form of a new invite with an address that is none, which the browser would not send by itself. */
const inviteNobody = async (page: Page) => {
  await page.evaluate("document.querySelector('#invite').noValidate = true")
  await page.locator('input[name=email]').fill('nobody')
  await page.getByRole('button', { name: 'Make the invite' }).click()
  await page.getByText('This is not an e-mail address.').waitFor()
}

const places: Readonly<Record<string, Place>> = {
  'members for a member': { path: '/@acme/-/members', by: 'bob' },
  'members for an admin, and an invite that is wrong': { path: '/@acme/-/members', by: 'ada', before: inviteNobody },
  'members for a stranger': { path: '/@acme/-/members', by: 'mallory' },
  'removing a member': { path: '/@acme/-/remove-member?user=BOB', by: 'ada' },
  'a new namespace': { path: '/new', by: 'ada' },
  'settings of a namespace': { path: '/@acme/-/settings', by: 'ada' },
  'a shorter retention': { path: '/@acme/-/retention?days=30', by: 'ada' },
  'a timeline': { path: '/@acme/-/timeline', by: 'ada' },
}

for (const [name, { path, by, before }] of Object.entries(places))
  test(`${name}: nothing that WCAG 2.2 forbids`, async () => {
    const people = await team()
    const { token } = people[by]
    const page = await visit(path.replace('BOB', people.bob.userId), { token, expected: /40[03]/ })
    await before?.(page)
    await checkAll(name, page)
  })

for (const javaScriptEnabled of [true, false])
  test(`by the keyboard alone, ${javaScriptEnabled ? 'with' : 'without'} JavaScript, a namespace is made, and somebody invited`, async () => {
    const slug = `parsers-${javaScriptEnabled ? 'with' : 'without'}`
    const page = await visit('/new', { token: (await team()).ada.token, javaScriptEnabled })
    await page.locator('input[name=displayName]').focus()
    await page.keyboard.type('The Parsers')
    await page.keyboard.press('Tab')
    await page.keyboard.type(slug)
    if (javaScriptEnabled) await page.getByText(`@${slug} is free.`).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/@${slug}/-/members?saved=created`)
    const open = page.locator('#invites .tag', { hasText: 'open' })
    assert.is(await open.count(), 0)
    await page.locator('input[name=maxUses]').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**saved=invite#invites')
    assert.is(await open.count(), 1)
  })

test('a slug that a new namespace cannot have is said while it is typed', async () => {
  const page = await visit('/new', { token: (await team()).ada.token })
  await page.locator('input[name=slug]').pressSequentially('acme')
  await page.getByText('@acme is taken: choose another one.').waitFor()
  await page.keyboard.type('-2')
  await page.getByText('@acme-2 is free.').waitFor()
})

test('on a phone the tabs are above the bar, scroll away, and show the one of the page', async () => {
  const page = await visit('/@acme/-/settings', { token: (await team()).ada.token, width: 390 })
  const edges = (selector: string) =>
    page.evaluate<[number, number]>(
      `(({ bottom, right }) => [bottom, right])(document.querySelector('${selector}').getBoundingClientRect())`,
    )
  const part = 1 // scrolling ends at whole pixels
  assert.ok((await edges('.tabs [aria-current]'))[1] < (await edges('.tabs'))[1] + part)
  assert.ok((await edges('.bar nav [aria-current]'))[0] > 0)
  await page.evaluate('scrollTo(0, 500)')
  assert.ok((await edges('.bar nav [aria-current]'))[0] <= 0)
  assert.ok((await edges('.bar input'))[0] > 0)
})

test('c leads to the form of a new invite, and a link is copied by its button', async () => {
  const page = await visit('/@acme/-/members', { token: (await team()).ada.token })
  await page.keyboard.press('c')
  assert.is(await page.locator('input[name=role]:focus').count(), 1)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy link' }).first().click()
  await page.getByText('Link copied').waitFor()
  assert.match(
    await page.evaluate<string>('navigator.clipboard.readText()'),
    /^http:\/\/127\.0\.0\.1:\d+\/invite\/\w{9}$/,
  )
})

test('a picture that is too large is refused before it is sent, any other is shown first', async () => {
  const page = await visit('/@acme/-/settings', { token: (await team()).ada.token })
  const field = page.locator('input[type=file]')
  const large = Buffer.concat([png, Buffer.alloc(512 * 1024)])
  await field.setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer: large })
  assert.match(
    await page.evaluate<string>("document.querySelector('input[type=file]').validationMessage"),
    'larger than 512 KiB',
  )
  await field.setInputFiles({ name: 'picture.png', mimeType: 'image/png', buffer: png })
  await page.locator('#picture img[src^="data:"]').waitFor()
  await page.getByRole('button', { name: 'Use this picture' }).click()
  await page.waitForURL('**saved=picture')
  await page.locator('#picture img[src^="/v1/namespaces/acme/avatar"]').waitFor()
})

run()
