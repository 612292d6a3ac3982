import axe from 'axe-core'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { shoot } from './shots.ts'

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
export const checkAll = async (name: string, page: Page, part = 'html', disabled: readonly string[] = []) => {
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
