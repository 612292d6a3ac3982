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

/** Every rule at both widths, and in the dark those that look at colours. */
const checkAll = async (name: string, page: Page, part = 'html', disabled: readonly string[] = []) => {
  const rules = Object.fromEntries(disabled.map((name) => [name, { enabled: false }]))
  const all = { runOnly: { type: 'tag', values: TAGS }, rules }
  await page.evaluate(axe.source)
  for (const width of [1280, 390]) {
    await setWidth(page, width)
    for (const [colorScheme, options] of [
      ['light', all],
      ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      assert.equal(await check(page, part, options), [], `${colorScheme}, ${width} pixels wide`)
      await shoot(page, `${name} ${width} ${colorScheme}`)
    }
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.ok(wide <= 0, `scrolls ${wide} pixels sideways at a width of ${width}`)
  }
}

let me: Promise<{ readonly session: NewSession; readonly seeded: Seeded }> | undefined
/** Somebody with sessions of their own. */
const known = () =>
  (me ??= (async () => {
    const { app } = world()
    const session = await signUp(app)
    const seeded = await seedSession(app, conversation(3), { projectName: 'parser', gitBranch: 'mend' }, session)
    await seedSession(app, conversation(1), { title: 'Only mine', visibility: 'private' }, session)
    return { session, seeded }
  })())

type Place = {
  /** What is looked at: all by default. */
  readonly part?: string
  readonly path: (seeded: Seeded) => string
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
    path: ({ path }) => path,
    open: async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('task')
      await page.locator('.find [role=status]', { hasText: 'of' }).waitFor()
    },
  },
  'the list of keys': { path: ({ path }) => path, open: (page) => page.keyboard.press('?') },
  'the palette': { path: ({ path }) => path, isMine: true, open: (page) => page.keyboard.press('Control+k') },
  changes: { path: ({ path }) => `${path}/-/changes` },
  'a message in full': { path: ({ path }) => `${path}/-/message/message%206` },
  'who can read': { path: ({ path }) => `${path}/-/visibility`, isMine: true },
  deleting: { path: ({ path }) => `${path}/-/delete`, isMine: true },
  'the settings': { path: () => '/settings', isMine: true },
  'signing in': { path: () => '/signin' },
  'what was found': { path: () => '/search?q=task+in%3Aprompt', isMine: true },
  'how to search': { path: () => '/search' },
  help: { path: () => '/help' },
  'what is not there': { path: () => '/nowhere' },
}

for (const [name, { path, isMine = false, part, open }] of Object.entries(places))
  test(`${name} has nothing that WCAG 2.2 forbids`, async () => {
    const { session, seeded } = await known()
    const page = await visit(path(seeded), { ...(isMine ? { token: session.token } : {}), expected: /404/ })
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
