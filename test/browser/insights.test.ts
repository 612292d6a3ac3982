import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import type { NewSession } from '../../src/contract/sessions.ts'
import type { Usage } from '../../src/contract/usage.ts'
import { checkAll } from './support/axe.ts'
import { browserSuite, scriptStarted } from './support/browser-suite.ts'
import { conversation, seedSession, signUp } from './support/seed.ts'

const folder = mkdtempSync(join(tmpdir(), 'insights-'))
const CATALOGUE_URL = join(folder, 'catalogue.json')
const { test, visit, world, run } = browserSuite('insights in a browser', { CATALOGUE_URL, ROLES: 'api,projector' })

const DAY_MS = 86_400_000
const DEAR = 'claude-opus-4-6'

const fillCatalogue = async () => {
  const model = { name: 'Claude Opus 4.6', release_date: '2026-01', cost: { input: 5, output: 25, cache_read: 0.5 } }
  const provider = { name: 'Anthropic', env: [], npm: 'x', doc: 'https://x', models: { [DEAR]: model } }
  writeFileSync(CATALOGUE_URL, JSON.stringify({ anthropic: provider }))
  const { service } = world().app
  const { position } = await service.catalogue.refresh()
  await service.visible(position)
  rmSync(folder, { recursive: true })
}

/** One session of an agent, so many days ago. */
type Recorded = {
  readonly title: string
  readonly agentId: string
  readonly daysAgo: number
  readonly prompts?: number
  readonly projectName?: string
  readonly model?: string
  /** What each answer has used. */
  readonly usage?: Usage
}

const record = async (
  by: NewSession,
  { title, agentId, daysAgo, prompts = 1, projectName, model, usage }: Recorded,
) => {
  const messages = conversation(prompts)
  const shift = Date.now() - daysAgo * DAY_MS - (messages.at(-1)!['timestamp'] as number)
  const moved = messages.map((one) => ({
    ...one,
    timestamp: (one['timestamp'] as number) + shift,
    usage: one.role === 'assistant' ? usage : undefined,
  }))
  const values = { title, agentId, visibility: 'private', ...(projectName && { projectName }), ...(model && { model }) }
  return seedSession(world().app, moved, values, by)
}

const USED = { inputTokens: 900, outputTokens: 700, cacheReadTokens: 41_000, cacheWriteTokens: 2_400 }

type People = { readonly slug: string; readonly admin: NewSession; readonly member: NewSession }

let people: Promise<People> | undefined
/** An admin and a member of a team whose agents record all kinds of usage, and none. */
const team = () =>
  (people ??= (async () => {
    const { app } = world()
    await fillCatalogue()
    const [admin, member] = [await signUp(app), await signUp(app)]
    const slug = 'what-it-cost'
    await app.call('POST', '/v1/namespaces', { token: admin.token, body: { slug, displayName: 'Team' } })
    const invite = await app.call('POST', `/v1/namespaces/${slug}/invites`, { token: admin.token, body: {} })
    const { code } = (invite.data as { invite: InviteView }).invite
    await app.call('POST', `/v1/invites/${code}/accept`, { token: member.token })
    const [mine, theirs] = [admin, member].map((one) => ({ ...one, namespaceSlug: slug })) as [NewSession, NewSession]
    const claude = { agentId: 'claude-code', model: DEAR, projectName: 'parser', usage: USED }
    await record(mine, { ...claude, title: 'Move the parser to streams', daysAgo: 1, prompts: 3 })
    await record(theirs, { ...claude, title: 'Find out why the cache misses', daysAgo: 5, prompts: 2 })
    await record(mine, { ...claude, title: 'A session of long ago', daysAgo: 200, prompts: 2 })
    const reported = { ...USED, costUsd: 0.0311 }
    await record(theirs, {
      title: 'Draw the charts',
      agentId: 'opencode',
      daysAgo: 12,
      model: 'glm-5',
      projectName: 'web',
      usage: reported,
    })
    await record(mine, {
      title: 'Try the new model',
      agentId: 'codex',
      daysAgo: 9,
      model: 'no-such-model',
      projectName: 'web',
      usage: USED,
    })
    await record(theirs, { title: 'Rename the files', agentId: 'cursor', daysAgo: 16, prompts: 2 })
    await record(mine, {
      title: 'Mend the build',
      agentId: 'copilot-cli',
      daysAgo: 20,
      model: DEAR,
      usage: { outputTokens: 500 },
    })
    return { slug, admin, member }
  })())

const path = (slug: string, days?: number) => `/@${slug}/-/insights${days === undefined ? '' : `?days=${days}`}`

const words = async (page: Page, part = 'main') => (await page.locator(part).innerText()).replaceAll(/\s+/g, ' ')

/** A person with a namespace of their own in which only an agent without usage was recorded, or nothing. */
const alone = async (agentId?: string) => {
  const me = await signUp(world().app)
  if (agentId) await record(me, { title: 'Rename the files', agentId, daysAgo: 2, prompts: 2 })
  return { token: me.token, slug: me.namespaceSlug! }
}

test('a year, as an admin sees it, has nothing that WCAG 2.2 forbids', async () => {
  const { slug, admin } = await team()
  const page = await visit(path(slug, 365), { token: admin.token })
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
  await checkAll('insights of a year', page)
})

test('a month, as a member sees it, has nothing that WCAG 2.2 forbids', async () => {
  const { slug, member } = await team()
  const page = await visit(path(slug), { token: member.token, javaScriptEnabled: true })
  const shown = await words(page)
  assert.match(shown, 'You and the others')
  assert.match(shown, 'all others')
  await checkAll('insights of a month', page)
})

for (const [name, agentId] of [
  ['an agent without usage', 'cursor'],
  ['nothing', undefined],
] as const)
  test(`insights of ${name} say which agents record no usage, and have nothing that WCAG 2.2 forbids`, async () => {
    const { token, slug } = await alone(agentId)
    const page = await visit(path(slug), { token })
    assert.match(await words(page), agentId ? 'Sessions of Cursor have no usage' : 'Cursor records none')
    if (agentId) assert.match(await words(page, '.nums'), /Tokens –.*Cost –/)
    await checkAll(`insights of ${name}`, page)
  })

test('without JavaScript everything is there, in UTC', async () => {
  const { slug, admin } = await team()
  const page = await visit(path(slug), { token: admin.token, javaScriptEnabled: false, timezoneId: 'Asia/Tokyo' })
  const shown = await words(page)
  for (const text of ['days in UTC', 'in part at list prices', 'No price is known for no-such-model', 'By person'])
    assert.match(shown, text)
  assert.match(shown, 'Copilot CLI have tokens of the output only')
  await page.locator('summary', { hasText: 'As a table' }).first().click()
  assert.match(await words(page, '.charts + .more table'), 'Sessions Messages Tokens Cost')
  await page.getByRole('link', { name: '90 days' }).click()
  await page.waitForURL(/days=90/)
  assert.is(await page.locator('nav[aria-label=Period] [aria-current]').innerText(), '90 days')
})

test('days and hours are those of the reader, and keys lead to other periods', async () => {
  const { slug, admin } = await team()
  const page = await visit(`/@${slug}`, { token: admin.token, timezoneId: 'Asia/Tokyo' })
  await page.getByRole('link', { name: 'Insights' }).click()
  await page.locator('[data-zone="Asia/Tokyo"]').waitFor()
  await scriptStarted(page)
  await page.keyboard.press('?')
  assert.match(await words(page, 'dialog.keys'), 'Shorter, longer period [ ]')
  await page.keyboard.press('Escape')
  for (const [key, days] of [
    [']', 90],
    ['[', 30],
    ['[', 7],
  ] as const) {
    await page.keyboard.press(key)
    await page.waitForURL(new RegExp(`days=${days}$`))
    await scriptStarted(page)
  }
  await page.getByRole('link', { name: 'Move the parser to streams' }).first().click()
  await page.waitForURL(/what-it-cost\/[^-/]+-/)
})

run()
