import * as assert from 'uvu/assert'
import { indexed } from '../server/search/support/open-search.ts'
import { browserSuite } from './support/browser-suite.ts'
import { conversation, seedSession } from './support/seed.ts'

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

run()
