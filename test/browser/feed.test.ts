import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import type { NewSession } from '../../src/contract/sessions.ts'
import { until } from '../support/until.ts'
import { browserSuite, scriptStarted } from './support/browser-suite.ts'
import { conversation, seedSession, signUp } from './support/seed.ts'

const { test, visit, world, run } = browserSuite('lists of sessions in a browser')

const publicSession = (title: string) => seedSession(world().app, conversation(1), { title })
const row = (page: Page, title: string) => page.locator('.list.traces li', { hasText: title })

test('keys lead down and up the list, and Enter opens a session', async () => {
  const { path } = await publicSession('The first one')
  await publicSession('The second one')
  const page = await visit('/')
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  for (const [key, title] of [
    ['j', 'The second one'],
    ['j', 'The first one'],
    ['k', 'The second one'],
    ['j', 'The first one'],
  ] as const) {
    await page.keyboard.press(key)
    assert.is(await focused(), title)
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(world().server + path)
  await scriptStarted(page)
  await page.keyboard.press('u')
  await page.waitForURL(`${world().server}${path.split('/').slice(0, 2).join('/')}`)
})

test('numbers choose whose sessions are listed, and the palette finds them and the namespaces', async () => {
  const me = await signUp(world().app)
  const { path } = await seedSession(world().app, conversation(1), { title: 'Only mine', visibility: 'private' }, me)
  const page = await visit('/', { token: me.token })
  await row(page, 'Only mine').waitFor()
  await page.keyboard.press('2')
  await page.waitForURL(/scope=public/)
  await scriptStarted(page)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('only m')
  await page.locator('.palette [aria-selected=true]', { hasText: 'Only mine' }).waitFor()
  await page.locator('.palette input').fill(`@${me.namespaceSlug}`)
  await page
    .locator('.palette li', { hasText: `@${me.namespaceSlug}` })
    .first()
    .waitFor()
  await page.locator('.palette input').fill('only')
  await page.keyboard.press('Enter')
  await page.waitForURL(world().server + path)
})

test('in a team a member has a list of their own sessions, which announces newer ones of theirs only', async () => {
  const { app } = world()
  const [me, colleague] = [await signUp(app), await signUp(app)]
  const slug = 'a-team-of-two'
  await app.call('POST', '/v1/namespaces', { token: me.token, body: { slug, displayName: 'Two' } })
  const invite = await app.call('POST', `/v1/namespaces/${slug}/invites`, { token: me.token, body: {} })
  const { code } = (invite.data as { invite: InviteView }).invite
  await app.call('POST', `/v1/invites/${code}/accept`, { token: colleague.token })
  const own = (title: string, { token }: NewSession) =>
    seedSession(app, conversation(1), { title }, { ...me, token, namespaceSlug: slug })
  await app.call('POST', '/v1/session/switch', { token: me.token, body: { slug } })
  await own('Recorded by me', me)
  await own('Recorded by a colleague', colleague)
  const page = await visit('/', { token: me.token })
  await row(page, 'Recorded by a colleague').waitFor()
  await page.keyboard.press('2')
  await page.waitForURL(/scope=mine/)
  await scriptStarted(page)
  assert.equal(await page.locator('.list.traces a.name').allInnerTexts(), ['Recorded by me'])
  await own('Another by a colleague', colleague)
  await own('Another by me', me)
  await page.getByRole('link', { name: '1 newer' }).waitFor()
})

test('a list is divided by the days of its reader, who sees the day of each session in others', async () => {
  const me = await signUp(world().app)
  // These begin at 22:50 UTC of 9 February, and 90 minutes later.
  await seedSession(world().app, conversation(1), { title: 'In the evening' }, me)
  const later = conversation(1).map((one) => ({ ...one, timestamp: (one['timestamp'] as number) + 90 * 60_000 }))
  await seedSession(world().app, later, { title: 'At night' }, me)
  const days = async (timezoneId: string) => {
    const page = await visit('/', { token: me.token, timezoneId })
    const shown = await page.locator('section.of-day').allInnerTexts()
    const wanted = /^(?:\d+ Feb.*|\d\d:\d\d|In the evening|At night)$/
    return shown.map((text) =>
      text
        .split('\n')
        .filter((line) => wanted.test(line))
        .map((line) => line.replace(/ \d{4}$/, '')),
    )
  }
  const [evening, night] = ['In the evening', 'At night']
  assert.equal(await days('UTC'), [
    ['10 February', '00:20', night],
    ['9 February', '22:50', evening],
  ])
  assert.equal(await days('Asia/Tokyo'), [['10 February', '09:20', night, '07:50', evening]])
  const page = await visit('/?scope=public', { token: me.token, timezoneId: 'Asia/Tokyo' })
  assert.match(await row(page, evening).locator('time').innerText(), /^10 Feb/)
})

test('the days of a filter are those of its reader', async () => {
  const me = await signUp(world().app)
  await seedSession(world().app, conversation(1), { title: 'At 22:50 of 9 February in UTC' }, me)
  const path = '/?q=from%3A2026-02-10+to%3A2026-02-10'
  for (const [timezoneId, count] of [
    ['UTC', 0],
    ['Asia/Tokyo', 1],
  ] as const) {
    const page = await visit(path, { token: me.token, timezoneId })
    await page.getByText(`Days are those of ${timezoneId}.`).waitFor()
    assert.is(await row(page, 'At 22:50').count(), count, timezoneId)
  }
})

test('newer sessions are announced, and are shown when the reader asks for them', async () => {
  await publicSession('An older one')
  const page = await visit('/')
  await publicSession('A new one')
  await publicSession('Another new one')
  const pill = page.getByRole('link', { name: '2 newer' })
  await pill.waitFor()
  assert.ok((await pill.boundingBox())!.height < 60)
  assert.is(await row(page, 'A new one').count(), 0)
  await pill.click()
  await row(page, 'Another new one').waitFor()
})

test('a sub-agent is announced by the number at its session, and the palette has sessions only', async () => {
  const me = await signUp(world().app)
  const { id } = await seedSession(world().app, conversation(1), { title: 'It starts others' }, me)
  const start = (title: string) => seedSession(world().app, conversation(1), { title, parentExternalId: id }, me)
  await start('The first helper')
  const page = await visit('/', { token: me.token })
  const started = row(page, 'It starts others').locator('.below')
  assert.is(await started.innerText(), '+1 sub-agent')
  const second = await start('The second helper')
  await until(async () => (await started.innerText()) === '+2 sub-agents')
  await seedSession(world().app, conversation(1), { title: 'Another session' }, me)
  await page.getByRole('link', { name: '1 newer' }).waitFor()
  await second.remove()
  await until(async () => (await started.innerText()) === '+1 sub-agent')
  await page.keyboard.press('Control+k')
  await page.locator('.palette li', { hasText: 'Another session' }).waitFor()
  assert.is(await page.locator('.palette li', { hasText: 'The first helper' }).count(), 0)
  await page.keyboard.press('Escape')
  await started.click()
  await page.waitForURL(/sub-agents$/)
  assert.equal(await page.locator('.list.traces a.name').allInnerTexts(), ['The first helper'])
})

test('rows change while their sessions go on: prompts, calls, title, and whether they run', async () => {
  const me = await signUp(world().app)
  const now = Date.now()
  const turn = (i: number, timestamp: number) =>
    conversation(i + 1)
      .slice(8 * i)
      .map((one) => ({ ...one, timestamp }))
  const session = await seedSession(world().app, turn(0, now - 3_600_000), { title: 'A long one' }, me)
  for (const path of ['/', `/@${me.namespaceSlug}`]) {
    const page = await visit(path, { token: me.token })
    const shown = row(page, 'A long one')
    const prompts = async () => Number((await shown.locator('.end .meta').innerText()).split(' ')[0])
    const before = await prompts()
    assert.is(await shown.locator('.live').count(), 0)
    await session.say(...turn(before, Date.now() - 118_000))
    await until(async () => (await prompts()) === before + 1)
    assert.is(await shown.locator('.strip rect.p').count(), before + 1)
    assert.match(await shown.locator('.at').innerText(), /\b\d+ min|1 h/)
    await shown.locator('.live').waitFor({ state: 'detached' })
    await session.change({ title: `A long one at ${path}` })
    await row(page, `A long one at ${path}`).waitFor()
    await page.locator('.list.traces a.name').first().focus()
  }
})

test('a list with a filter loses a session that has left it, and announces one that has come into it', async () => {
  const me = await signUp(world().app)
  const { app } = world()
  const inProject = (title: string, projectName: string) =>
    seedSession(app, conversation(1), { title, projectName }, me)
  const leaving = await inProject('Leaves the filter', 'shop')
  await inProject('Meets the filter', 'shop')
  const coming = await inProject('Comes into the filter', 'other')
  await inProject('The last of the filter', 'shop')
  const page = await visit('/?q=project%3Ashop', { token: me.token })
  const titles = () => page.locator('.list.traces a.name').allInnerTexts()
  assert.equal((await titles()).sort(), ['Leaves the filter', 'Meets the filter', 'The last of the filter'])
  await leaving.change({ projectName: 'other' })
  await row(page, 'Leaves the filter').waitFor({ state: 'detached' })
  await coming.change({ projectName: 'Shop' })
  await page.getByRole('link', { name: '1 newer' }).click()
  await row(page, 'Comes into the filter').waitFor()
  await scriptStarted(page)
  await coming.remove()
  await row(page, 'Comes into the filter').waitFor({ state: 'detached' })
  assert.equal((await titles()).sort(), ['Meets the filter', 'The last of the filter'])
})

test('a filter that nothing meets shows a session as soon as one meets it', async () => {
  const me = await signUp(world().app)
  const { say } = await seedSession(world().app, conversation(1).slice(0, 2), { title: 'It will fail' }, me)
  const page = await visit(`/@${me.namespaceSlug}?q=has%3Aerror`, { token: me.token })
  await page.getByRole('heading', { name: 'No session matches' }).waitFor()
  const looked = page.waitForRequest((request) => request.resourceType() === 'fetch' && /[?&]q=has/.test(request.url()))
  await say(...conversation(1))
  assert.is((await looked).headers()['x-typed'], 'yes', 'counts as a search of a script')
  await row(page, 'It will fail').waitFor()
})

test('the page of a team that has removed its reader shows what is public', async () => {
  const { app } = world()
  const [admin, reader] = [await signUp(app), await signUp(app)]
  const slug = 'a-team-to-leave'
  await app.call('POST', '/v1/namespaces', { token: admin.token, body: { slug, displayName: 'Team' } })
  const invite = await app.call('POST', `/v1/namespaces/${slug}/invites`, { token: admin.token, body: {} })
  const { code } = (invite.data as { invite: InviteView }).invite
  await app.call('POST', `/v1/invites/${code}/accept`, { token: reader.token })
  const own = { ...admin, namespaceSlug: slug }
  await seedSession(app, conversation(1), { title: 'For members', visibility: 'private' }, own)
  await seedSession(app, conversation(1), { title: 'For everybody' }, own)
  const { data } = await app.call('GET', '/v1/user', { token: reader.token })
  const { id } = (data as { user: { id: string } }).user
  const page = await visit(`/@${slug}`, { token: reader.token })
  await seedSession(app, conversation(1), { title: 'A newer one', visibility: 'private' }, own)
  await page.getByRole('link', { name: '1 newer' }).waitFor()
  await app.call('DELETE', `/v1/namespaces/${slug}/members/${id}`, { token: admin.token })
  await row(page, 'For members').waitFor({ state: 'detached' })
  await row(page, 'For everybody').waitFor()
})

test('on a phone the bar has the sessions, all namespaces and help, also for readers who are not signed in', async () => {
  const { app } = world()
  const me = await signUp(app)
  for (const slug of ['a-first-long-slug', 'a-second-long-slug', 'a-third-long-slug'])
    await app.call('POST', '/v1/namespaces', { token: me.token, body: { slug, displayName: slug } })
  for (const [path, token, current] of [
    ['/', undefined, 'Sessions'],
    ['/@a-third-long-slug', me.token, '@a-third-long-slug'],
    ['/help', me.token, 'Help'],
  ] as const) {
    const page = await visit(path, { width: 390, ...(token ? { token } : {}) })
    const seen = async (name: string) => {
      const { x, width } = (await page.locator('.bar nav a', { hasText: name }).boundingBox())!
      return [x, x + width] as const
    }
    const [[from, to], [help, end]] = [await seen(current), await seen('Help')]
    assert.ok(from >= 0 && help >= 0 && end <= 390, `${path}: ${from}, ${help} to ${end}`)
    if (current !== 'Help') assert.ok(to <= help, `${path}: ${to} beyond ${help}`)
  }
})

test('an empty list shows a session as soon as there is one', async () => {
  const me = await signUp(world().app)
  const page = await visit('/', { token: me.token })
  const [socket] = await Promise.all([page.waitForEvent('websocket'), page.reload()])
  await socket.waitForEvent('framereceived', { predicate: ({ payload }) => String(payload).includes('[]') })
  await page.getByRole('heading', { name: 'No sessions here yet' }).waitFor()
  await seedSession(world().app, conversation(1), { title: 'The very first' }, me)
  await row(page, 'The very first').waitFor()
})

test('a session that may not be read any more leaves the list', async () => {
  const [kept, lost] = [await publicSession('It stays'), await publicSession('It goes')]
  const page = await visit('/', { expected: /401/ })
  await row(page, 'It goes').waitFor()
  await lost.change({ visibility: 'private' })
  await row(page, 'It goes').waitFor({ state: 'detached' })
  await kept.change({ title: 'It stays, renamed' })
  await until(async () => (await row(page, 'It stays').count()) === 1)
})

run()
