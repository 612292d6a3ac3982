import type { CDPSession, Page } from 'playwright-core'
import { findChromium, startChromium } from '../browser/support/chromium.ts'

export type Visited = { readonly page: Page; readonly devTools: CDPSession }

/** Opens a page in a browser that has cached nothing; gives what `look` makes of it. `prepare` comes before it is opened. */
export type Visit = <T>(
  address: string,
  look: (visited: Visited) => Promise<T>,
  prepare?: (visited: Visited) => Promise<unknown>,
) => Promise<T>

/** Gives the work a browser; without a Chromium, which is said, there is nothing to be had. */
export const withBrowser = async <T>(
  name: string,
  work: (visit: Visit) => Promise<readonly T[]>,
): Promise<readonly T[]> => {
  const path = findChromium()
  if (path === undefined) {
    console.error(`SKIP ${name} in a browser: no Chromium in PATH, and CHROMIUM names none`)
    return []
  }
  const browser = await startChromium(path)
  const visit: Visit = async (address, look, prepare) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    try {
      const page = await context.newPage()
      const visited = { page, devTools: await context.newCDPSession(page) }
      await prepare?.(visited)
      await page.goto(address)
      await page.waitForSelector('html[data-ready]', { state: 'attached' })
      return await look(visited)
    } finally {
      await context.close()
    }
  }
  try {
    return await work(visit)
  } finally {
    await browser.close()
  }
}
