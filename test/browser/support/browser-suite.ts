import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { newWorld } from '../../support/world.ts'
import { findChromium, startChromium } from './chromium.ts'

export type Visit = Pick<
  BrowserContextOptions,
  'javaScriptEnabled' | 'colorScheme' | 'timezoneId' | 'reducedMotion'
> & {
  /** The token of a session, to be signed in by its cookie. */
  readonly token?: string
  readonly width?: number
  readonly cookies?: Readonly<Record<string, string>>
  /** What the browser's console says although all is well. */
  readonly expected?: RegExp
}

/** A service that browsers reach, over a database of its own. */
export type World = { readonly app: App; readonly server: string }

const HEIGHT = 800

/** Waits until the script of a page takes keys: it starts after the first paint. */
export const scriptStarted = (page: Page) => page.waitForSelector('html[data-ready]', { state: 'attached' })

/** What is wrong with a page that its reader does not see: what its console complains of, the policy included. */
const watch = (page: Page, problems: string[], expected: RegExp | undefined) => {
  const note = (text: string) => expected?.test(text) || problems.push(`${new URL(page.url()).pathname}: ${text}`)
  page.on('console', (message) => message.type() === 'error' && note(`${message.text()} ${message.location().url}`))
  page.on('pageerror', (error) => note(String(error.stack)))
}

/**
 * Tests with a browser and a service. Without a Chromium they are skipped, which is said once. After each test the pages that it has
 * visited are closed; a page that complains in its console fails the test.
 */
export const browserSuite = (name: string, env: Readonly<Record<string, string>> = {}) => {
  const path = findChromium()
  const all = suite(name)
  let browser: Browser
  let world: World
  let close = async () => {}
  const contexts: BrowserContext[] = []
  let problems: string[] = []

  if (path === undefined) console.log(`SKIP ${name}: no Chromium in PATH, and CHROMIUM names none`)
  else {
    all.before(async () => {
      const { node: app, ...opened } = await newWorld({ env: { SUMMARY_PROVIDER: 'none', ...env } })
      close = opened.close
      world = { app, server: await app.app.listen({ host: '127.0.0.1', port: 0 }) }
      browser = await startChromium(path)
    })
    all.after(async () => {
      await browser.close()
      await close()
    })
    all.after.each(async () => {
      for (const context of contexts.splice(0)) await context.close()
    })
  }

  const contextFor = async ({ token, cookies = {}, width = 1280, expected: _, ...options }: Visit) => {
    const context = await browser.newContext({ viewport: { width, height: HEIGHT }, ...options })
    contexts.push(context)
    const all = { ...cookies, ...(token === undefined ? {} : { tracebook: token }) }
    await context.addCookies(Object.entries(all).map(([name, value]) => ({ name, value, url: world.server })))
    return context
  }

  /** Opens a path of the service in a browser of its own. */
  const visit = async (path: string, options: Visit = {}): Promise<Page> => {
    const page = await (await contextFor(options)).newPage()
    watch(page, problems, options.expected)
    await page.goto(world.server + path)
    if (options.javaScriptEnabled !== false) await scriptStarted(page)
    return page
  }

  const test = (sentence: string, check: () => Promise<void>) => {
    if (path === undefined) return all.skip(sentence, check)
    all(sentence, async () => {
      problems = []
      await check()
      assert.equal(problems, [])
    })
  }
  return { test, visit, world: () => world, run: () => all.run() }
}
