import { readFile } from 'node:fs/promises'
import type { Download, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { checkEvidence } from '../../src/server/proof/evidence/check.ts'
import { audited, signer } from '../server/proof/support.ts'
import { until } from '../support/until.ts'
import { checkAll } from './support/axe.ts'
import { type Visit, browserSuite } from './support/browser-suite.ts'
import { type Seeded, conversation, seedSession } from './support/seed.ts'
import { shoot } from './support/shots.ts'

const { test, visit, world, run } = browserSuite('evidence of a session, in a browser', audited)

let made: Promise<Seeded> | undefined
const seeded = () => (made ??= seedSession(world().app, conversation(2), { agentId: 'codex' }))

/** Opens the page once a checkpoint covers the session. */
const visitCovered = async (name: string, options: Visit = {}): Promise<Page> => {
  const { path, token } = await seeded()
  const page = await visit(`${path}/-/${name}`, { token, ...options })
  await until(async () => {
    if ((await page.getByText('Try again').count()) === 0) return true
    await page.reload()
    return false
  })
  return page
}

/** What a downloaded file proves. */
const proven = async (download: Download) =>
  checkEvidence(await readFile(await download.path()), { key: signer.verifier.text })

for (const javaScriptEnabled of [true, false])
  test(`the menu of a session leads to what evidence proves, and to the file, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
    await (await visitCovered('evidence')).close()
    const { path, token, id } = await seeded()
    const page = await visit(path, { token, javaScriptEnabled })
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('link', { name: 'Evidence' }).click()
    await page.waitForURL(`**${path}/-/evidence`)
    assert.match(await page.locator('main').innerText(), 'A file is not recalled.')
    const [key, line] = await page.locator('.cmd code').allInnerTexts()
    assert.is(key, signer.verifier.text)
    assert.match(line!, ` audit verify --offline 'Mend the parser.evidence.json' --key ${key}`)
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download the evidence' }).click()
    const download = await downloading
    assert.is(download.suggestedFilename(), 'Mend the parser.evidence.json')
    const { sessions, events } = await proven(download)
    assert.equal(
      sessions.map(({ externalId }) => externalId),
      [id],
    )
    assert.is(events.length, 1 + conversation(2).length)
    await page.getByRole('link', { name: 'timeline of the session' }).click()
    await page.getByRole('link', { name: 'Proof of event 0' }).click()
    await page.waitForURL('**/events/0/proof**')
    assert.match(await page.locator('body').innerText(), '"entry":')
  })

test('those who only read the session have no such link', async () => {
  const { path } = await seeded()
  const page = await visit(path)
  await page.getByRole('button', { name: 'Export' }).click()
  assert.is(await page.getByRole('link', { name: 'JSON' }).count(), 1)
  assert.is(await page.getByRole('link', { name: 'Evidence' }).count(), 0)
})

for (const name of ['evidence', 'timeline']) {
  test(`the page ${name} has nothing that WCAG 2.2 forbids`, async () => {
    await checkAll(`${name} of a session`, await visitCovered(name))
  })

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      test(`the page ${name} fits without JavaScript, ${colorScheme}, ${width} pixels`, async () => {
        const page = await visitCovered(name, { javaScriptEnabled: false, colorScheme, width })
        await shoot(page, `${name} without scripts ${width} ${colorScheme}`)
        assert.ok(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'))
      })
}

run()
