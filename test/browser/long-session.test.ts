import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { browserSuite } from './support/browser-suite.ts'
import { type Seeded, message, seedSession, smallMessages, text } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('a long session in a browser')

const COUNT = 2_000
let kept: Promise<Seeded> | undefined
/** One for all tests: it is added to at its end only. */
const seeded = () => (kept ??= seedSession(world().app, smallMessages(COUNT)))

const row = (page: Page, i: number) => page.locator(`[data-id="message ${i}"]`)
const isQuiet = (page: Page) => page.locator('#messages:not([aria-busy])').waitFor()
/** The distance of a message from the top of the window. */
const top = async (page: Page, i: number) => (await row(page, i).boundingBox())?.y

/** Scrolls far from the beginning, and waits until there is something to read. */
const scrollTo = async (page: Page, y: number) => {
  await page.evaluate(`scrollTo(0, ${y})`)
  await until(() =>
    page.evaluate<boolean>(`[...document.querySelectorAll('.msg')].some((row) => {
      const { top } = row.getBoundingClientRect()
      return top > 100 && top < innerHeight && row.ariaPosInSet > 200
    })`),
  )
}

/** The parts of the session that a page asks for from now on, as numbers of messages. */
const fetchedParts = (page: Page): number[] => {
  const parts: number[] = []
  page.on('request', (request) => {
    const limit = new URL(request.url()).searchParams.get('limit')
    if (limit !== null) parts.push(Number(limit))
  })
  return parts
}

const scrollOutline = (page: Page, share: number) =>
  page.evaluate(`(() => {
    const outline = document.getElementById('outline')
    outline.scrollTo(0, ${share} * outline.scrollHeight)
  })()`)

test('the page holds only the messages in view, in a feed that says which of all they are', async () => {
  const page = await visit((await seeded()).path)
  const rows = () => page.locator('#messages .msg').count()
  assert.ok((await rows()) < 60)
  await page.keyboard.press('G')
  await row(page, COUNT - 1).waitFor()
  assert.ok((await rows()) < 60)
  assert.is(await page.locator('#messages').getAttribute('role'), 'feed')
  const place = ['aria-posinset', 'aria-setsize'].map((name) => row(page, COUNT - 1).getAttribute(name))
  assert.equal(await Promise.all(place), [`${COUNT}`, `${COUNT}`])
  assert.is(await page.locator('.turn').count(), 0)
})

test('a link to a message leads there, and the message stays where it is', async () => {
  const page = await visit(`${(await seeded()).path}?m=message%201234#m-1234`)
  await row(page, 1_234).waitFor()
  await isQuiet(page)
  const at = (await top(page, 1_234))!
  assert.ok(at > 0 && at < 200, `at ${at}`)
  await page.mouse.move(800, 400)
  for (const step of [-300, -300, -300, 300, 300, 300]) {
    const before = (await top(page, 1_234))!
    await page.mouse.wheel(0, step)
    await until(async () => Math.abs((await top(page, 1_234))! - (before - step)) < 4)
  }
  assert.ok(Math.abs((await top(page, 1_234))! - at) < 4)
})

test('a message that the browser scrolled to before the script ran stays in its place', async () => {
  const path = `${(await seeded()).path}?m=message%201234`
  const without = await visit(path, { javaScriptEnabled: false })
  await row(without, 1_234).waitFor()
  const at = (await top(without, 1_234))!
  assert.ok(at > 200 && at < 400, `at ${at}`)
  const page = await visit(path)
  await row(page, 1_234).waitFor()
  await isQuiet(page)
  assert.ok(Math.abs((await top(page, 1_234))! - at) < 4)
  assert.is(await page.evaluate("document.activeElement.closest('.msg')?.dataset.id"), 'message 1234')
})

test('after a jump the messages in view are fetched first', async () => {
  const page = await visit((await seeded()).path)
  const parts = fetchedParts(page)
  await scrollTo(page, 60_000)
  await until(async () => parts.length > 1)
  assert.ok(parts[0]! < 30, `${parts}`)
  assert.ok(Math.max(...parts) > parts[0]!, `${parts}`)
})

test('rows that came with the page are not fetched', async () => {
  const page = await visit((await seeded()).path)
  const parts = fetchedParts(page)
  for (let i = 0; (await row(page, 100).count()) === 0; i++) {
    assert.ok(i < 100)
    await page.mouse.move(800, 400)
    await page.mouse.wheel(0, 700)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  }
  assert.equal(parts, [])
})

test('a run of calls is whole, wherever its messages are asked for', async () => {
  const read = (i: number) => [
    { type: 'tool_call', content: { callId: `r${i}`, toolName: 'Read', args: { file_path: `/src/${i}.ts` } } },
    { type: 'tool_result', content: { callId: `r${i}`, toolName: 'Read', output: 'content', status: 'success' } },
  ]
  const messages = smallMessages(1_100).map((one, i) =>
    i > 1_036 && i < 1_045 ? message(i, 'assistant', ...read(i)) : one,
  )
  const page = await visit((await seedSession(world().app, messages)).path)
  await page.keyboard.press('G')
  await row(page, 1_099).waitFor()
  const run = page.locator('details.run', { hasText: 'Read 8' })
  await page.mouse.move(800, 400)
  for (let i = 0; (await run.count()) === 0; i++) {
    assert.ok(i < 200)
    await page.mouse.wheel(0, -300)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  }
  assert.is(await run.locator('.msg').count(), 8)
})

test('the focus stays in a message that is scrolled away', async () => {
  const page = await visit((await seeded()).path)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const focused = () => page.evaluate<string | undefined>("document.activeElement.closest('.msg')?.dataset.id")
  await until(async () => (await focused()) === 'message 1')
  await scrollTo(page, 40_000)
  assert.is(await focused(), 'message 1')
  await page.keyboard.press('j')
  await until(async () => (await focused()) === 'message 2')
  assert.ok((await top(page, 2))! < 800)
})

test('find and the outline lead to messages that were never fetched', async () => {
  const page = await visit((await seeded()).path)
  await page.keyboard.press('/')
  await page.keyboard.type('Answer 1555')
  await page.locator('.find [role=status]', { hasText: '1 of 1' }).waitFor()
  await until(async () => ((await top(page, 1_555)) ?? -1) > 0)
  await page.keyboard.press('Escape')
  await scrollOutline(page, 0.2)
  await page.locator('#outline a', { hasText: 'Question 41' }).click()
  await until(async () => ((await top(page, 400)) ?? -1) > 0)
  await page.locator('#outline [aria-current]', { hasText: 'Question 41' }).waitFor()
})

test('the page holds only the prompts of the outline near those in view, and all can be reached', async () => {
  const page = await visit((await seeded()).path)
  const prompts = page.locator('#outline ol a')
  await until(async () => (await prompts.count()) < 60)
  const last = page.locator('#outline ol a', { hasText: `Question ${COUNT / 10}` })
  assert.is(await last.count(), 0)
  const item = page.locator('#outline ol li', { hasText: `Question ${COUNT / 10}` })
  // On a busy machine the outline may follow the message in view once more after it was scrolled.
  let places: (string | null)[][] = []
  await until(async () => {
    await scrollOutline(page, 1)
    places = await item.evaluateAll((all) =>
      all.map((one) => ['aria-posinset', 'aria-setsize'].map((name) => one.getAttribute(name))),
    )
    return places.length > 0
  })
  assert.equal(places, [[`${COUNT / 10}`, `${COUNT / 10}`]])
  assert.ok((await prompts.count()) < 60)
  await page.keyboard.press('ControlOrMeta+k')
  await page.keyboard.type('Question 77')
  await page.keyboard.press('Enter')
  await until(async () => ((await top(page, 760)) ?? -1) > 0)
  await page.locator('#outline [aria-current]', { hasText: 'Question 77' }).waitFor()
})

test('an outline that opens as a sheet begins at the message being read', async () => {
  const page = await visit((await seeded()).path, { width: 390 })
  await page.keyboard.press('G')
  await row(page, COUNT - 1).waitFor()
  await page.locator('.dock').getByText('Prompt').click()
  const current = page.locator('#outline [aria-current]', { hasText: `Question ${COUNT / 10}` })
  await current.waitFor()
  const { y, height } = (await current.boundingBox())!
  assert.ok(y > 0 && y + height <= 800, `${y}`)
  await scrollOutline(page, 0)
  await page.locator('#outline a', { hasText: /^1\D/ }).waitFor()
})

test('a reader who comes back finds the place where they were', async () => {
  const page = await visit((await seeded()).path)
  await scrollTo(page, 60_000)
  const { id, at } = await page.evaluate<{ id: string; at: number }>(`(() => {
    const row = [...document.querySelectorAll('.msg')].find((one) => one.getBoundingClientRect().top > 100)
    return { id: row.dataset.id, at: row.getBoundingClientRect().top }
  })()`)
  await page.reload()
  await until(async () => Math.abs(((await page.locator(`[data-id="${id}"]`).boundingBox())?.y ?? 0) - at) < 4)
})

test('new messages come at the end', async () => {
  const session = await seeded()
  const page = await visit(session.path)
  await page.keyboard.press('G')
  await row(page, COUNT - 1).waitFor()
  await isQuiet(page)
  await session.say(message(COUNT, 'user', text('One more thing')))
  await row(page, COUNT).waitFor()
  await until(() => page.evaluate<boolean>('document.documentElement.scrollHeight - innerHeight - scrollY < 2'))
})

test('a message without anything to show leaves no gap, and comes back', async () => {
  const session = await seeded()
  const [first, last] = [COUNT + 1, COUNT + 2]
  const words = 'Here it is. '.repeat(400)
  await session.say(message(first, 'user', text(words)), message(last, 'user', text('The next one')))
  const page = await visit(session.path)
  await page.keyboard.press('G')
  await row(page, last).waitFor()
  await isQuiet(page)
  /** Between the messages around it. */
  const space = async () => {
    const [before, behind] = await Promise.all([COUNT, last].map((i) => row(page, i).boundingBox()))
    return before && behind ? behind.y - before.y - before.height : NaN
  }
  const full = await space()
  assert.ok(full > 200)
  await session.say(message(first, 'user', text('')))
  await row(page, first).waitFor({ state: 'detached' })
  await until(async () => (await space()) < full - 200)
  assert.is(await row(page, last).count(), 1)
  await session.say(message(first, 'user', text(words)))
  await row(page, first).waitFor({ state: 'attached' })
  await until(async () => Math.abs((await space()) - full) < 4)
  assert.ok((await top(page, first))! < (await top(page, last))!)
})

test('without JavaScript a long session is divided into pages', async () => {
  const page = await visit((await seeded()).path, { javaScriptEnabled: false })
  assert.is(await page.locator('#messages .msg').count(), 200)
  await page.locator('a[rel=next]').first().click()
  await row(page, 200).waitFor()
})

run()
