import axe from 'axe-core'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../src/contract/sessions.ts'
import { browserSuite } from './support/browser-suite.ts'
import { shoot } from './support/shots.ts'
import { type Seeded, conversation, seedSession, signUp, smallMessages } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('accessibility of pages')

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

type Violation = {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

const COLOURS = ['color-contrast', 'link-in-text-block']
const ONE_PER_LOOK = '[data-look]'

/** For pages: marks one text of each look, which is what its contrast depends on: its colour, size and weight, and what is behind it. */
const markLooks = `(() => {
  const looks = new Set()
  const behind = new Map([[null, '']])
  const behindOf = (one) => {
    if (!behind.has(one)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(one)
      behind.set(one, [behindOf(one.parentElement), backgroundColor, backgroundImage, opacity].join())
    }
    return behind.get(one)
  }
  for (const one of document.querySelectorAll('body, body *')) {
    one.removeAttribute('data-look')
    const hasText = [...one.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '')
    if (!hasText || !one.checkVisibility()) continue
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(one)
    const look = [one.localName, color, fontSize, fontWeight, textDecorationLine, behindOf(one)].join()
    if (!looks.has(look)) one.setAttribute('data-look', '')
    looks.add(look)
  }
})()`

/** What axe finds in a part of a page, one text for each place. */
const check = async (page: Page, part: string, options: object): Promise<string[]> => {
  // Of all that is right, axe would put together as much as of what is wrong.
  const quick = { ...options, resultTypes: ['violations'], selectors: false, preload: false }
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run('${part}', ${JSON.stringify(quick)}).then(({ violations }) => violations)`,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  )
}

/** In a window as high as the page, in which nothing lies under the bars that stay at its edges. */
const setWidth = async (page: Page, width: number) => {
  await page.setViewportSize({ width, height: 800 })
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  await page.setViewportSize({ width, height: Math.min(height, 8_000) })
}

/** Every rule at both widths; the rules about colours also in the dark, and after the first time for one text of each look. */
const checkAll = async (name: string, page: Page, part = 'html', disabled: readonly string[] = []) => {
  const rulesWithout = (...names: readonly string[]) => ({
    runOnly: { type: 'tag', values: TAGS },
    rules: Object.fromEntries([...disabled, ...names].map((name) => [name, { enabled: false }])),
  })
  await page.evaluate(axe.source)
  for (const width of [1280, 390]) {
    await setWidth(page, width)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const isFirst = width === 1280 && colorScheme === 'light'
      const found = colorScheme === 'dark' ? [] : await check(page, part, rulesWithout(...(isFirst ? [] : COLOURS)))
      if (!isFirst) {
        await page.evaluate(markLooks)
        found.push(...(await check(page, ONE_PER_LOOK, { runOnly: COLOURS })))
      }
      assert.equal(found, [], `${colorScheme}, ${width} pixels wide`)
      await shoot(page, `${name} ${width} ${colorScheme}`)
    }
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.ok(wide <= 0, `scrolls ${wide} pixels sideways at a width of ${width}`)
  }
}

/** Sessions of two prompts and of one: all prompts have calls of the same kinds. */
type Known = { readonly session: NewSession; readonly seeded: Seeded; readonly small: Seeded }

let me: Promise<Known> | undefined
/** Somebody with sessions of their own. */
const known = () =>
  (me ??= (async () => {
    const { app } = world()
    const session = await signUp(app)
    const seeded = await seedSession(app, conversation(2), { projectName: 'parser', gitBranch: 'mend' }, session)
    const small = await seedSession(app, conversation(1), {}, session)
    await seedSession(app, conversation(1), { title: 'Only mine', visibility: 'private' }, session)
    return { session, seeded, small }
  })())

type Place = {
  /** What is looked at: all by default. */
  readonly part?: string
  readonly path: (seeded: Seeded, small: Seeded) => string | Promise<string>
  readonly isMine?: boolean
  readonly open?: (page: Page) => Promise<unknown>
}

const places: Readonly<Record<string, Place>> = {
  'the first page': { path: () => '/' },
  'the feed': { path: () => '/', isMine: true },
  'a namespace': { path: ({ slug }) => `/@${slug}` },
  'a session': { path: ({ path }) => path },
  'a session of mine with everything open': {
    path: ({ path }) => path,
    isMine: true,
    open: (page) => page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true"),
  },
  finding: {
    part: '.find',
    path: (_, { path }) => path,
    open: async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('task')
      await page.locator('.find [role=status]', { hasText: 'of' }).waitFor()
    },
  },
  // Behind a dialog nothing can be used.
  'the list of keys': { part: 'dialog', path: (_, { path }) => path, open: (page) => page.keyboard.press('?') },
  'the palette': {
    part: 'dialog',
    path: (_, { path }) => path,
    isMine: true,
    open: (page) => page.keyboard.press('Control+k'),
  },
  changes: { path: (_, { path }) => `${path}/-/changes` },
  'a message in full': { path: (_, { path }) => `${path}/-/message/message%206` },
  'who can read': { path: ({ path }) => `${path}/-/visibility`, isMine: true },
  deleting: { path: ({ path }) => `${path}/-/delete`, isMine: true },
  'the settings': { path: () => '/settings', isMine: true },
  'signing in': { path: () => '/signin' },
  'signing in this browser': {
    path: async ({ token }) => {
      const { data } = await world().app.call('POST', '/v1/session/browser', { token, body: {} })
      const { pathname, search } = new URL((data as { readonly url: string }).url)
      return pathname + search
    },
  },
  'what was found': { path: () => '/search?q=task+in%3Aprompt', isMine: true },
  'how to search': { path: () => '/search' },
  help: { path: () => '/help' },
  'what is not there': { path: () => '/nowhere' },
}

for (const [name, { path, isMine = false, part, open }] of Object.entries(places))
  test(`${name} has nothing that WCAG 2.2 forbids`, async () => {
    const { session, seeded, small } = await known()
    const page = await visit(await path(seeded, small), {
      ...(isMine ? { token: session.token } : {}),
      expected: /404/,
    })
    await open?.(page)
    await checkAll(name, page, part)
  })

test('a long session has nothing that WCAG 2.2 forbids', async () => {
  const { path } = await seedSession(world().app, smallMessages(1_200))
  const page = await visit(path)
  await page.evaluate('scrollTo(0, 9_000)')
  await page.locator('#messages:not([aria-busy])').waitFor()
  // Its rows are like those of other sessions, and some always lie under a bar.
  await checkAll('a long session', page, 'html', ['target-size'])
})

run()
