import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** With `SCREENSHOTS=FOLDER` pictures of pages go there, with a page that shows them; for people to look at, no test compares them. */
const folder = process.env.SCREENSHOTS

const files: string[] = []

export const shoot = async (page: Page, name: string): Promise<void> => {
  if (!folder) return
  await mkdir(folder, { recursive: true })
  const file = `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.png`
  await page.screenshot({ path: join(folder, file), fullPage: true })
  files.push(file)
  const figures = files.map(
    (one) => `<figure><figcaption>${one}</figcaption><img src="${one}" alt="" loading="lazy"></figure>`,
  )
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html><meta charset="utf-8"><title>Pages</title>\n${figures.join('\n')}\n`,
  )
}
