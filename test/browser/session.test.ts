import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { browserSuite } from './support/browser-suite.ts'
import { LONG_OUTPUT, called, conversation, message, seedSession, text } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('the page of a session in a browser')

const PROMPTS = 6

const seeded = () => seedSession(world().app, conversation(PROMPTS))

/** The message with the focus, or in which it is. */
const focused = (page: Page) => page.evaluate<string | undefined>("document.activeElement.closest('.msg')?.dataset.id")
const press = async (page: Page, ...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
/** Waits until the focus is in a message. */
const inMessage = (page: Page, i: number) => until(async () => (await focused(page)) === `message ${i}`)

test('keys lead from message to message, and to prompts, failures and edits', async () => {
  const page = await visit((await seeded()).path)
  for (const [key, i] of [
    ['j', 0],
    ['j', 1],
    ['k', 0],
    ['J', 8],
    ['n', 16],
    ['K', 8],
    ['p', 0],
    ['e', 3],
    ['e', 11],
    ['E', 3],
    ['d', 10],
    ['D', 2],
  ] as const) {
    await press(page, key)
    await inMessage(page, i)
  }
  const isInView = (await page.locator('[data-id="message 2"] summary').first().boundingBox())!
  assert.ok(isInView.y > 0 && isInView.y < 800)
})

const openIn = (page: Page, selector: string) => page.locator(`${selector}[open]`).count()

test('keys open and close a part, all parts of its kind, and all thinking', async () => {
  const page = await visit((await seeded()).path)
  await press(page, 'd')
  await inMessage(page, 2)
  const before = await openIn(page, 'details.edit')
  await press(page, 'x')
  assert.is(await openIn(page, 'details.edit'), before - 1)
  await press(page, 'X')
  assert.is(await openIn(page, 'details.edit'), PROMPTS)
  await press(page, 't')
  assert.is(await openIn(page, 'details.think'), PROMPTS)
  await press(page, 't')
  assert.is(await openIn(page, 'details.think'), 0)
  assert.match(await page.locator('.said').innerText(), '6 parts closed')
})

test('if single keys are switched off they do nothing, and the palette has their actions', async () => {
  const page = await visit((await seeded()).path, { cookies: { keys: 'off' } })
  await press(page, 'j', '?', 't')
  assert.equal([await focused(page), await openIn(page, 'details.think')], [undefined, 0])
  await press(page, 'Control+k')
  await page.keyboard.type('all thinking')
  await press(page, 'Enter')
  assert.is(await openIn(page, 'details.think'), PROMPTS)
})

test('text, code and links are copied, and the page says so', async () => {
  const { path } = await seeded()
  const page = await visit(path)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  const row = page.locator('[data-id="message 1"]')
  await row.hover()
  await row.getByRole('button', { name: 'Copy text' }).click()
  await until(async () => (await copied()).startsWith('I look at 1:'))
  await row.locator('pre').hover()
  await row.getByRole('button', { name: 'Copy code' }).click()
  await until(async () => (await copied()) === 'const task = 1')
  await row.getByRole('button', { name: 'Copy link' }).click()
  await until(async () => (await copied()) === `${world().server}${path}?m=message%201`)
  assert.match(await page.locator('.said').innerText(), 'Link to this message copied')
})

test('times are those of the reader, with the day where it changes', async () => {
  const { path } = await seeded()
  const page = await visit(path, { timezoneId: 'Asia/Kolkata' })
  assert.is(await page.locator('[data-id="message 0"] .at time').innerText(), '04:20')
  assert.not.match(await page.locator('[data-id="message 0"] .at').innerText(), 'UTC')
  assert.match(await page.locator('.head time').innerText(), /^Tue 10 Feb 2026, 04:20 – 05:07$/)
  const there = await visit(path, { timezoneId: 'America/New_York' })
  assert.match(await there.locator('.head time').innerText(), /^Mon 9 Feb 2026, 17:50 – 18:37$/)
})

test('a folded output opens in its place', async () => {
  const page = await visit((await seeded()).path)
  const row = page.locator('[data-id="message 6"]')
  await page.locator('details.run > summary').first().click()
  await row.locator('summary').first().click()
  await row.locator('a[data-fold]').scrollIntoViewIfNeeded()
  const before = (await row.locator('summary').first().boundingBox())!.y
  await row.locator('a[data-fold]').click()
  await row.locator('pre', { hasText: 'line 150 of' }).waitFor()
  assert.is((await row.locator('pre').last().innerText()).trim(), LONG_OUTPUT)
  assert.ok(Math.abs((await row.locator('summary').first().boundingBox())!.y - before) < 2)
})

const found = (page: Page, words: string) => page.locator('.find [role=status]', { hasText: words }).waitFor()

test('find searches the whole session, opens the part with a match, and goes on to the next one', async () => {
  const page = await visit((await seeded()).path)
  await press(page, '/')
  await page.keyboard.type('line 150 OF')
  await found(page, '1 of 6')
  const mark = page.locator('[data-id="message 6"] pre', { hasText: 'line 150 of' })
  assert.ok(await mark.isVisible())
  await press(page, 'Enter')
  await found(page, '2 of 6')
  await press(page, 'Shift+Enter', 'Shift+Enter')
  await found(page, '6 of 6')
  await press(page, 'Escape')
  await inMessage(page, 8 * PROMPTS - 2)
  await press(page, '/')
  await page.keyboard.type('nowhere to be found')
  await found(page, 'Nothing found')
})

test('find marks what was counted, however its letters are written', async () => {
  const { path } = await seedSession(world().app, [
    message(
      0,
      'assistant',
      text('Cafe\u0301, CAF\u00c9 and **cafe\u0301** don\u2019t; \ufb01le \uff25\uff32\uff32\uff2f\uff32'),
    ),
  ])
  const page = await visit(path)
  const marks = () =>
    page.evaluate<readonly string[]>("[...(CSS.highlights.get('found') ?? [])].map((range) => String(range))")
  for (const [typed, expected] of [
    ['caf\u00e9', ['Cafe\u0301', 'CAF\u00c9', 'cafe\u0301']],
    ["don't", ['don\u2019t']],
    ['file error', ['\ufb01le \uff25\uff32\uff32\uff2f\uff32']],
    ['i', ['\ufb01']],
  ] as const) {
    await press(page, '/')
    await page.keyboard.type(typed)
    await found(page, `1 of ${expected.length}`)
    assert.equal(await marks(), expected)
    await press(page, 'Escape')
  }
})

test('the second key leads past everything to the outline', async () => {
  const page = await visit((await seeded()).path)
  await press(page, 'Tab', 'Tab')
  assert.is(await page.evaluate<string>('document.activeElement.textContent'), 'Skip to the outline')
  await press(page, 'Enter', 'Tab')
  assert.ok(await page.evaluate<boolean>("document.activeElement.matches('#outline a')"))
})

test('what was typed and what a terminal shows are seen so, and what it has overwritten is found in its call', async () => {
  const typed = 'rename __init__.py\n    main()\n\u05ea\u05e7\u05df a.ts.\n# no heading'
  const output = `${Array.from({ length: 101 }, (_, i) => `\r${i} MB`).join('')}\nsaved`
  const { path } = await seedSession(world().app, [
    message(0, 'user', text(typed)),
    message(1, 'assistant', ...called('c', 'Bash', { command: 'get' }, output)),
  ])
  const page = await visit(path)
  assert.is(await page.locator('.ask .prose').innerText(), typed)
  await press(page, '/')
  await page.keyboard.type('77 MB')
  await found(page, '1 of 1')
  assert.is((await page.locator('pre.out').innerText()).trim(), '100 MB\nsaved')
})

test('without a keyboard the outline and finding are at the foot of the page', async () => {
  const page = await visit((await seeded()).path, { width: 390 })
  await page.getByRole('button', { name: 'Find in this session' }).click()
  await page.keyboard.type('task 4')
  await page.locator('.find [role=status]', { hasText: / of / }).waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Close' }).first().click()
  await page.locator('.dock button', { hasText: 'Prompt' }).click()
  await page.locator('#outline a', { hasText: 'task 5' }).first().click()
  await until(async () => ((await page.locator('[data-id="message 32"]').boundingBox())?.y ?? -1) > 0)
  assert.is(await page.locator('#outline:popover-open').count(), 0)
})

test('the outline marks the prompt being read, and leads to others', async () => {
  const page = await visit((await seeded()).path)
  const current = page.locator('#outline [aria-current]')
  await current.getByText('Please do task 1').waitFor()
  await page.locator('#outline a', { hasText: 'task 4' }).click()
  await inMessage(page, 24)
  await current.getByText('Please do task 4').waitFor()
})

test('a link to a message leads there, also if the message is in a closed part', async () => {
  const page = await visit(`${(await seeded()).path}?m=message%2029`)
  await inMessage(page, 29)
  assert.ok(await page.locator('[data-id="message 29"]').isVisible())
})

const isAtEnd = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollHeight - innerHeight - scrollY < 2')

test('new messages appear by themselves: in view for a reader at the end, else a button announces them', async () => {
  const session = await seeded()
  const page = await visit(session.path)
  await press(page, 'G')
  await session.say(message(48, 'user', text('One more thing')), {
    ...message(49, 'assistant', text('Here it is')),
    usage: { costUsd: 1 },
  })
  await page.locator('[data-id="message 49"]').waitFor()
  await until(() => isAtEnd(page))
  await page.locator('#outline li', { hasText: 'One more thing' }).waitFor()
  await page.locator('.head .counts', { hasText: /7 prompts.*50 messages/ }).waitFor()
  await page.locator('.head .counts', { hasText: /72\.0 k tokens in.*7\.2 M cached.*20\.4 k out.*\$5\.50/ }).waitFor()
  assert.is(await page.locator('.head .counts').count(), 2)
  await page.evaluate('scrollTo(0, 0)')
  await session.say(message(50, 'assistant', text('And another one')))
  const pill = page.getByRole('button', { name: '1 new' })
  await pill.waitFor()
  assert.is(await page.evaluate('scrollY'), 0)
  await pill.click()
  await pill.waitFor({ state: 'detached' })
  assert.ok(await page.locator('[data-id="message 50"]').isVisible())
})

test('the first messages of a session take the place of the note that there are none', async () => {
  const session = await seedSession(world().app, [])
  const page = await visit(session.path)
  const note = page.getByText('This session has no messages yet.')
  await note.waitFor()
  await session.say(message(0, 'user', text('The first thing')))
  await page.locator('[data-id="message 0"]').waitFor()
  await note.waitFor({ state: 'hidden' })
})

test('a message that changes is replaced, and what was open stays open', async () => {
  const session = await seeded()
  const page = await visit(session.path)
  const thought = page.locator('[data-id="message 1"] details.think')
  await thought.locator('summary').click()
  const thinking = { type: 'thinking', content: { text: 'Another thought.' } }
  await session.say(message(1, 'assistant', thinking, text('Said differently')))
  await page.getByText('Said differently').waitFor()
  assert.ok(await thought.getByText('Another thought.').isVisible())
})

test('a message that has nothing to show any more leaves the page', async () => {
  const session = await seeded()
  const page = await visit(session.path)
  const row = page.locator('[data-id="message 1"]')
  await row.waitFor({ state: 'attached' })
  await session.say(message(1, 'assistant'))
  await row.waitFor({ state: 'detached' })
})

test('the content is removed from the page when the reader loses the right to read it', async () => {
  for (const lose of ['unpublished', 'deleted'] as const) {
    const session = await seeded()
    const page = await visit(session.path)
    await (lose === 'deleted' ? session.remove() : session.change({ visibility: 'private' }))
    await page.getByRole('heading', { name: 'You can no longer read this session' }).waitFor()
    assert.not.match(await page.content(), /task 1|Mend the parser/)
  }
})

run()
