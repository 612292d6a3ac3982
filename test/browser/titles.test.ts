import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { checkAll } from './support/axe.ts'
import { browserSuite } from './support/browser-suite.ts'
import { conversation, seedSession } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('titles in a browser')

const PROMPT = `Mend the ${'parser of the settings, which loses the last line of each file, and then '.repeat(40)}the lexer`
const FAMILIES = '👩‍👩‍👧‍👦'.repeat(300)
const HEBREW = `תקן את המנתח ${'של קובצי ההגדרות '.repeat(12)}(גרסה 1.2) \u202eabc`

/** Somebody with a session of this title. */
const titled = (title: string) => seedSession(world().app, conversation(1), { title })
const heading = (page: Page) => page.locator('h1').innerText()

for (const javaScriptEnabled of [true, false])
  test(`a session is renamed by the keyboard alone, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
    const { path, token } = await titled('The first title')
    const page = await visit(path, { token, javaScriptEnabled })
    await page.getByRole('link', { name: 'Rename this session' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/-\/rename$/)
    const field = page.getByLabel('Title')
    assert.is(await field.inputValue(), 'The first title')
    await field.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Mend <the> parser 👩‍👩‍👧‍👦')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`${path}$`))
    assert.is(await heading(page), 'Mend <the> parser 👩‍👩‍👧‍👦')
    assert.is(await page.title(), 'Mend <the> parser 👩‍👩‍👧‍👦 · Tracebook')
  })

test('whoever renames a session that was renamed meanwhile is told so, and keeps what was typed', async () => {
  const { path, token, id } = await titled('The first title')
  const page = await visit(`${path}/-/rename`, { token, expected: /409/ })
  await world().app.call('PATCH', `/v1/traces/${id}`, { token, body: { title: 'By another' } })
  await page.getByLabel('Title').fill('Mine')
  await page.getByRole('button', { name: 'Save' }).click()
  assert.match(await page.getByRole('alert').innerText(), /renamed meanwhile.*By another/)
  assert.is(await page.getByLabel('Title').inputValue(), 'Mine')
  await checkAll('renamed meanwhile', page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL(new RegExp(`${path}$`))
  assert.is(await heading(page), 'Mine')
})

for (const [name, title] of Object.entries({ 'a whole prompt': PROMPT, families: FAMILIES, Hebrew: HEBREW }))
  test(`${name} as a title is whole above the session, which stays in sight, and short in lists`, async () => {
    const { path, token, slug } = await titled(title)
    for (const width of [1280, 390]) {
      const page = await visit(path, { token, width })
      assert.is((await page.locator('h1').textContent())!.length >= title.length, true)
      const { y } = (await page.locator('#messages').boundingBox())!
      assert.ok(y < 800, `the messages begin at ${y}`)
      const list = await visit(`/@${slug}`, { token, width })
      const { height } = (await list.locator('.traces .name').boundingBox())!
      assert.ok(height < 50, `the title has a height of ${height}`)
    }
    for (const [what, at] of [
      ['session', path],
      ['list', `/@${slug}`],
      ['form', `${path}/-/rename`],
      ['deletion', `${path}/-/delete`],
    ] as const)
      await checkAll(`${name} ${what}`, await visit(at, { token }))
  })

run()
