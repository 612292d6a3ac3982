import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { browserSuite } from './support/browser-suite.ts'
import { conversation, seedSession } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('pages in a browser')

for (const javaScriptEnabled of [true, false])
  test(`are shown with their style, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
    const page = await visit('/', { javaScriptEnabled })
    assert.match(await page.locator('h1').innerText(), /\w/)
    assert.match(await page.evaluate<string>('getComputedStyle(document.body).fontFamily'), 'system-ui')
  })

const isOpen = (page: Page, dialog: string) => page.locator(`dialog.${dialog}[open]`).count()
/** Leaves a dialog, which the browser closes a little later. */
const leave = async (page: Page) => {
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog[open]', { state: 'detached' })
}
const chosen = (page: Page) => page.locator('dialog.palette [aria-selected=true]').innerText()

test('a key shows the keys of the page, in a dialog that Escape closes', async () => {
  const page = await visit('/')
  await page.keyboard.press('?')
  assert.match(await page.locator('dialog.keys').innerText(), /Home\s+g h/)
  await leave(page)
})

test('Ctrl-K finds places and actions by words, and Enter goes there', async () => {
  const page = await visit('/nowhere', { expected: /404/ })
  await page.keyboard.press('Control+k')
  assert.is(await page.locator('dialog.palette input:focus').count(), 1)
  await page.keyboard.type('up')
  assert.match(await chosen(page), 'Up one level')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('no such thing')
  assert.match(await chosen(page), 'Search everything for “no such thing”')
  await page.locator('dialog.palette input').fill('home')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/$/)
})

test('the palette has each action once, with all of its keys, and each place once', async () => {
  const { path } = await seedSession(world().app, conversation(1))
  const page = await visit(path)
  await page.keyboard.press('Control+k')
  await page.locator('dialog.palette h3', { hasText: 'Sessions' }).waitFor() // which are fetched
  const lines = async (words: string) => {
    await page.locator('dialog.palette input').fill(words)
    const found = await page.locator('dialog.palette li').allInnerTexts()
    return found
      .map((line) => line.replaceAll(/\s+/g, ' ').trim())
      .filter((line) => !line.startsWith('Search everything'))
  }
  assert.equal(await lines('next prompt'), ['Next prompt J n'])
  assert.equal(await lines('help'), ['Help'])
  assert.equal(await lines('home'), ['Home: all sessions g h'])
  await lines('')
  const groups = await page.locator('dialog.palette h3').allInnerTexts()
  assert.equal(groups, ['Sessions', 'On this page', 'Go'])
})

test('the palette has a session at the day when it came if its times are too far ahead, and says so', async () => {
  const [said] = conversation(1)
  const ahead = new Date(Date.now() + 5 * 86_400_000)
  await seedSession(world().app, [{ ...said!, timestamp: ahead.getTime() }], { title: 'From a wrong clock' })
  const page = await visit('/')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('wrong clock')
  const line = page.locator('dialog.palette li', { hasText: 'From a wrong clock' })
  assert.match(await line.innerText(), /clock ahead/)
  assert.not.match(await line.innerText(), ahead.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' }))
})

test('two keys go to a page; keys with other modifiers, and in fields, are left alone', async () => {
  const page = await visit('/nowhere', { expected: /404/ })
  for (const key of ['Alt+g', 'h', 'Shift+Alt+?']) await page.keyboard.press(key)
  assert.is(await isOpen(page, 'keys'), 0)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('?')
  assert.equal([await isOpen(page, 'keys'), await isOpen(page, 'palette')], [0, 1])
  await leave(page)
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL(/\/$/)
})

run()
