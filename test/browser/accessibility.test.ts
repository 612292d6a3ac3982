import type { Page } from 'playwright-core'
import type { NewSession } from '../../src/contract/sessions.ts'
import { indexed } from '../server/search/support/open-search.ts'
import { checkAll } from './support/axe.ts'
import { browserSuite } from './support/browser-suite.ts'
import { type Seeded, conversation, seedSession, signUp, smallMessages } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('accessibility of pages')

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
    for (const title of ['Look for the cause', 'Read the grammar'])
      await seedSession(app, conversation(1), { title, parentExternalId: seeded.id }, session)
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
  'a filtered list': { path: () => '/?q=has%3Aerror+since%3A9999d&sort=updated', isMine: true },
  'a filter that is not understood': { path: () => '/?q=project%3Anone+porject%3Ax+words+since%3A7', isMine: true },
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
  'sub-agents': { path: ({ path }) => `${path}/-/sub-agents` },
  'the palette': {
    part: 'dialog',
    path: (_, { path }) => path,
    isMine: true,
    open: (page) => page.keyboard.press('Control+k'),
  },
  'typing in the field at the top': {
    part: '.bar',
    path: () => '/help',
    isMine: true,
    open: async (page) => {
      await indexed(world().app)
      await page.locator('.bar input[type=search]').fill('task')
      await page.locator('.hits mark').first().waitFor()
      await page.keyboard.press('ArrowDown')
    },
  },
  'the palette with what was found': {
    part: 'dialog',
    path: () => '/help',
    isMine: true,
    open: async (page) => {
      await indexed(world().app)
      await page.keyboard.press('Control+k')
      await page.keyboard.type('task')
      await page.locator('.palette .soft mark').first().waitFor()
      await page.keyboard.press('End')
      await page.keyboard.press('ArrowUp')
    },
  },
  'what is not found': { path: () => '/search?q=%22task+do%22+has%3Aerror', isMine: true },
  changes: { path: (_, { path }) => `${path}/-/changes` },
  'a message in full': { path: (_, { path }) => `${path}/-/message/message%206` },
  'who can read': { path: ({ path }) => `${path}/-/visibility`, isMine: true },
  renaming: { path: ({ path }) => `${path}/-/rename`, isMine: true },
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
