import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { version } from '../../src/base/version.ts'
import { until } from '../support/until.ts'
import { browserSuite } from './support/browser-suite.ts'
import { conversation, message, seedSession, text } from './support/seed.ts'
import { shoot } from './support/shots.ts'

const { test, visit, world, run } = browserSuite('how a session goes on from its page, in a browser')

const seeded = (values: object = {}) => seedSession(world().app, conversation(3), { agentId: 'codex', ...values })

const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')
const client = () => `npx --yes ${world().server}/client/tracebook-${version}.tgz`

test('the head has the command for the whole session, the menu of a prompt and the outline that from there', async () => {
  const { path } = await seeded()
  const page = await visit(path)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  const line = `${client()} resume ${world().server}${path}`
  assert.is(await page.locator('#continue .cmd code').innerText(), line)
  await page.getByRole('button', { name: 'Copy command' }).click()
  await until(async () => (await copied(page)) === line)
  await page.keyboard.press('Escape')
  const prompt = page.locator('[data-id="message 8"]')
  await prompt.hover()
  await prompt.getByRole('link', { name: 'Continue from here' }).click()
  await until(async () => (await copied(page)) === `${line} --at 'message 8'`)
  assert.match(await page.locator('.said').innerText(), 'Command that continues from here copied')
  const third = page.locator('.outline li').nth(2)
  await third.hover()
  await third.getByRole('link', { name: 'Continue from here' }).click()
  await until(async () => (await copied(page)) === `${line} --at 'message 16'`)
})

test('without scripts the links lead to a page with the command', async () => {
  const { path } = await seeded()
  const page = await visit(path, { javaScriptEnabled: false })
  await page.locator('[data-id="message 8"]').hover()
  await page.locator('[data-id="message 8"] .go-on').click()
  assert.is(await page.locator('h1').innerText(), 'Continue from here')
  assert.match(await page.locator('main').innerText(), 'Please do task 2, with care.')
  const line = `${client()} resume ${world().server}${path} --at 'message 8'`
  assert.equal(await page.locator('.cmd code').allInnerTexts(), [line, `${line} --in claude-code`])
})

test('a prompt that comes while the page is open can be continued from, too', async () => {
  const { path, say } = await seeded()
  const page = await visit(path)
  await say(message(24, 'user', text('One more thing.')))
  await page.locator('.outline li').nth(3).locator('.go-on').waitFor({ state: 'attached' })
  assert.is(await page.locator('.outline li').nth(3).locator('.go-on').getAttribute('data-at'), "'message 24'")
})

test('a session of another agent has no such links', async () => {
  const { path } = await seeded({ agentId: 'gemini-cli' })
  const page = await visit(path, { javaScriptEnabled: false })
  assert.is(await page.locator('.go-on').count(), 0)
  assert.is(await page.getByRole('button', { name: 'Continue', exact: true }).count(), 0)
})

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    test(`it fits, ${colorScheme}, ${width} pixels`, async () => {
      const { path } = await seeded()
      const name = `continue ${colorScheme} ${width}`
      const page = await visit(path, { colorScheme, width })
      await page.locator('[data-id="message 8"]').hover()
      await shoot(page, `${name} prompt`)
      const isWithin = () => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')
      assert.ok(await isWithin())
      await page.getByRole('button', { name: 'Continue', exact: true }).click()
      await shoot(page, `${name} menu`)
      const menu = (await page.locator('#continue').boundingBox())!
      assert.ok(menu.x >= 0 && menu.x + menu.width <= width)
      await page.goto(`${world().server}${path}/-/continue?m=message%208`)
      await shoot(page, `${name} page`)
      assert.ok(await isWithin())
    })

run()
