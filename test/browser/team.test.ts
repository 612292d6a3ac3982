import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { invitePath } from '../../src/server/pages/links.ts'
import { signIn } from '../support/world.ts'
import { browserSuite } from './support/browser-suite.ts'

const { test, visit, world, run } = browserSuite('a team without a terminal')

/** The browser says so of pages that are not for its person any more. */
const expected = /status of 40[34]/

const invited = async (page: Page): Promise<string> => {
  await page.locator('input[name=maxUses]').fill('2')
  await page.keyboard.press('Enter')
  await page.waitForURL('**saved=invite#invites')
  const code = /\/invite\/(\w+)/.exec(await page.locator('#invites').innerHTML())?.[1]
  assert.ok(code, 'the page shows the link of the invite')
  return code!
}

const join = async (code: string, name: string, javaScriptEnabled: boolean): Promise<Page> => {
  const page = await visit(invitePath(code), { javaScriptEnabled, expected })
  await page.getByLabel('Your name').fill(name)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/@acme')
  return page
}

test('three browsers make a namespace, invite, join, see a session that one of them moves there, and remove somebody', async () => {
  const { app, server } = world()
  // What Ada's machine has synced.
  const ada = await signIn(app)
  await ada.newTrace(
    { title: 'Why the parser stops' },
    [{ externalId: 'm', role: 'user', parts: [{ type: 'text', content: { text: 'It stops at a comma.' } }] }],
    'parser',
  )
  const first = await visit('/new', { token: ada.token })
  await first.locator('input[name=displayName]').fill('Acme')
  await first.locator('input[name=slug]').fill('acme')
  await first.getByText('@acme is free.').waitFor()
  await first.keyboard.press('Enter')
  await first.waitForURL('**/@acme/-/members?saved=created')
  const code = await invited(first)

  const [bea, cleo] = [await join(code, 'Bea', true), await join(code, 'Cleo', false)]
  assert.is(await bea.getByText('Why the parser stops').count(), 0)

  await first.goto(`${server}/@${ada.namespaceSlug}/parser/-/visibility`)
  await first.getByLabel('Members of @acme').check()
  await first.getByRole('button', { name: 'Save' }).click()
  await first.waitForURL('**/@acme/parser')
  for (const page of [bea, cleo]) {
    await page.goto(`${server}/@acme`)
    await page.getByRole('link', { name: 'Why the parser stops' }).click()
    await page.waitForURL('**/@acme/parser')
    await page.getByText('It stops at a comma.').first().waitFor()
  }

  await first.goto(`${server}/@acme/-/members`)
  const row = first.locator('tr', { hasText: 'Cleo' })
  await row
    .getByRole('link', { name: /Remove/ })
    .or(row.getByRole('button', { name: /Remove/ }))
    .first()
    .click()
  await first
    .getByRole('button', { name: /Remove/ })
    .last()
    .click()
  await first.waitForURL('**/@acme/-/members?saved=*')
  assert.is(await first.locator('tr', { hasText: 'Cleo' }).count(), 0)
  for (const path of ['/@acme/parser', '/@acme/-/members']) {
    await cleo.goto(server + path)
    assert.not.match(await cleo.content(), 'It stops at a comma')
  }
  await cleo.goto(`${server}/@acme`)
  assert.is(await cleo.getByText('Why the parser stops').count(), 0)
  await bea.goto(`${server}/@acme/parser`)
  await bea.getByText('It stops at a comma.').first().waitFor()
})

run()
