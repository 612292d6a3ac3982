import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { indexed } from '../server/search/support/open-search.ts'
import { browserSuite } from './support/browser-suite.ts'
import { until } from '../support/until.ts'
import { conversation, message, seedSession, text } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('searching in a browser')

test('hits are shown while the reader types, and keys lead from hit to hit', async () => {
  const { app, server } = world()
  const { path } = await seedSession(app, conversation(2), { title: 'A marmalade factory' })
  await seedSession(app, conversation(1), { title: 'Another marmalade' })
  await indexed(app)
  const page = await visit('/')
  await page.keyboard.press('/')
  await page.keyboard.type('marmal')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Nothing for “marmal”' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('End')
  await page.keyboard.type('ade')
  await page.locator('.found mark', { hasText: 'marmalade' }).first().waitFor()
  assert.is(page.url(), `${server}/search?q=marmalade`)
  assert.is(await page.title(), 'marmalade: search · Tracebook')
  await page.locator('.bar input').fill('marmalade factory')
  await page.locator('.found mark', { hasText: 'factory' }).waitFor()
  await page.keyboard.press('Escape')
  assert.is(await page.locator('.bar input').inputValue(), 'marmalade factory')
  await page.keyboard.press('j')
  assert.is(await page.evaluate('document.activeElement.className'), 'name')
  await page.keyboard.press('Enter')
  await page.waitForURL(server + path)
})

const field = (page: Page) => page.locator('.bar input[type=search]')
const options = (page: Page) => page.locator('.hits [role=option]')
const said = (page: Page, words: string) =>
  page.locator('p.vh[role=status]', { hasText: words }).first().waitFor({ state: 'attached' })

test('on every page the field at the top lists hits while the reader types, and keys lead to them', async () => {
  const { app, server } = world()
  const { path } = await seedSession(app, [message(0, 'user', text('Where do the walruses live?'))], {
    title: 'Of the north',
  })
  await indexed(app)
  const page = await visit('/help')
  await field(page).pressSequentially('walruses')
  await options(page).first().waitFor()
  assert.equal(await options(page).allInnerTexts(), ['Of the north\nWhere do the walruses live?', 'All results'])
  assert.is(await page.locator('.hits mark').innerText(), 'walruses')
  await said(page, '1 place in 1 session.')
  assert.is(await field(page).getAttribute('aria-activedescendant'), null)
  await page.keyboard.press('ArrowUp')
  assert.is(await page.locator('.hits [aria-selected=true]').innerText(), 'All results')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  assert.is(await field(page).getAttribute('aria-activedescendant'), 'hit-0')
  await page.keyboard.press('Escape')
  assert.equal([await options(page).first().isVisible(), await field(page).inputValue()], [false, 'walruses'])
  await page.keyboard.press('End')
  await page.keyboard.type(' live')
  await options(page).first().waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${server}${path}?m=message%200`)
  await page.goBack()
  await page.waitForSelector('html[data-ready]', { state: 'attached' })
  await field(page).fill('walruses where')
  await options(page).last().click()
  await page.waitForURL(`${server}/search?q=walruses+where`)
})

test('days are those of the reader while they type, too, and after a journey', async () => {
  const { app, server } = world()
  // It begins at 22:50 UTC of 9 February.
  await seedSession(app, conversation(1), { title: 'The elderberry' })
  await indexed(app)
  const ofTokyo = { timezoneId: 'Asia/Tokyo' }
  const q = 'elderberry from:2026-02-10'
  const help = await visit('/help', ofTokyo)
  await field(help).fill(q)
  await options(help).first().waitFor()
  assert.equal(await options(help).allInnerTexts(), ['The elderberry\nThe elderberry', 'All results'])
  const page = await visit('/search', ofTokyo)
  await field(page).fill(q)
  await page.getByText('Days are those of Asia/Tokyo.').waitFor()
  await page.locator('.found').waitFor()
  await page.evaluate(`document.cookie = 'tz=UTC; path=/search'; document.cookie = 'tz=Asia%2FTokyo; path=/'`)
  await page.goto(`${server}/search?${new URLSearchParams({ q }).toString()}`)
  await page.getByText('Days are those of Asia/Tokyo.').waitFor()
})

test('the palette finds sessions by what was said in them, behind what has the words in its name', async () => {
  const { app, server } = world()
  const { path } = await seedSession(app, [message(0, 'assistant', text('A *narwhal* helps.'))], {
    title: 'Of the sea',
  })
  await indexed(app)
  const page = await visit('/help')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('narwhal helps')
  const hit = page.locator('.palette [role=option]', { hasText: 'Of the sea' })
  await hit.waitFor()
  assert.match(await hit.innerText(), 'A narwhal helps.')
  assert.match(await page.locator('.palette [aria-selected=true]').innerText(), 'Search everything for')
  await page.locator('.palette [role=status]', { hasText: '1 place in 1 session.' }).waitFor({ state: 'attached' })
  await hit.click()
  await page.waitForURL(`${server}${path}?m=message%200`)
})

test('one question is under way at a time, and a late answer to what is no longer typed is not shown', async () => {
  const { app } = world()
  await seedSession(app, [message(0, 'user', text('an axolotl, a newt'))], { title: 'Of the pond' })
  await indexed(app)
  const page = await visit('/search')
  const asked: string[] = []
  const gates: (() => void)[] = []
  await page.route('**/search?q=*', async (route) => {
    asked.push(new URL(route.request().url()).searchParams.get('q')!)
    await new Promise<void>((resolve) => gates.push(resolve))
    await route.continue()
  })
  await page.clock.install()
  await field(page).fill('axolotl')
  await page.clock.runFor(249)
  assert.equal(asked, [])
  await page.clock.runFor(1)
  await until(() => asked.length === 1)
  for (const typed of ['axolotl n', 'axolotl ne', 'axolotl newt']) await field(page).fill(typed)
  await page.clock.runFor(1_000)
  assert.equal(asked, ['axolotl'])
  gates[0]!()
  await until(() => asked.length === 2)
  assert.equal([asked[1], await page.locator('.found').count()], ['axolotl newt', 0])
  gates[1]!()
  await page.locator('.found mark', { hasText: 'newt' }).waitFor()
  await page.keyboard.press('ArrowDown')
  assert.is(await page.evaluate('document.activeElement.className'), 'name')
})

test('without a script the field is a form, and what was found is a page', async () => {
  const { app, server } = world()
  await seedSession(app, [message(0, 'user', text('a pangolin'))], { title: 'Of the woods' })
  await indexed(app)
  const page = await visit('/help', { javaScriptEnabled: false })
  await field(page).fill('pangolin nowhere')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${server}/search?q=pangolin+nowhere`)
  await page.getByRole('link', { name: 'Without nowhere' }).click()
  await page.locator('.found mark', { hasText: 'pangolin' }).waitFor()
})

run()
