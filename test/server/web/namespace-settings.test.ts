import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, callers, newTeam } from '../../access/team.ts'
import { png } from '../../support/pictures.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { FOREIGN, browserOf, fileForm } from '../../support/form-browser.ts'

const test = suite('web: settings of a namespace')
const DAY_MS = 86_400_000
let ago = 0
// Without a worker nothing is deleted while the tests look at it.
const { node } = await openWorld(test, { env: { ROLES: 'api,projector' }, now: () => Date.now() - ago * DAY_MS })
const team = await newTeam(node, 'the-team')

const SETTINGS = '/@the-team/-/settings'
const DETAILS = '/@the-team/-/details'
const PICTURE = '/@the-team/-/picture'
const RETENTION = '/@the-team/-/retention'

const as = (caller: Caller) => browserOf(node, team.tokenOf(caller, 'here'))
const admin = as('admin')

type View = { displayName: string; description?: string; retentionDays?: number; avatarUrl?: string }
const stored = async (slug = 'the-team', by = team.admin) =>
  (await by.send<{ namespace: View }>('GET', `/v1/namespaces/${slug}`)).namespace

const statuses: Readonly<Record<Caller, number>> = {
  nobody: 401,
  revoked: 401,
  stranger: 403,
  former: 403,
  member: 403,
  creator: 403,
  admin: 200,
}

for (const caller of callers)
  test(`${caller}: only admins see the settings of a namespace and change them`, async () => {
    const status = statuses[caller]
    const isAdmin = status === 200
    const browser = as(caller)
    const before = await stored()
    const picture = await fileForm('picture', png)
    assert.is((await browser.open(SETTINGS)).statusCode, status)
    assert.is((await browser.open(`${RETENTION}?days=30`)).statusCode, status)
    const sent = [
      await browser.post(DETAILS, { displayName: `By ${caller}`, description: '' }),
      await browser.upload(PICTURE, picture),
      await browser.post(RETENTION, { keep: 'days', days: '400', confirmed: '400' }),
    ]
    assert.equal(
      sent.map(({ statusCode }) => statusCode),
      Array(3).fill(isAdmin ? 303 : status),
    )
    const { displayName, retentionDays, avatarUrl } = await stored()
    if (!isAdmin) return assert.equal(await stored(), before)
    assert.equal([displayName, retentionDays, avatarUrl?.startsWith('/v1/')], ['By admin', 400, true])
  })

test('forms of other sites change nothing', async () => {
  const before = await stored()
  const answers = [
    await admin.post(DETAILS, { displayName: 'Evil', description: '' }, FOREIGN),
    await admin.upload(PICTURE, await fileForm('picture', png), FOREIGN),
    await admin.post(RETENTION, { keep: 'days', days: '1', confirmed: '1' }, FOREIGN),
  ]
  assert.equal(
    answers.map(({ statusCode }) => statusCode),
    [403, 403, 403],
  )
  assert.equal(await stored(), before)
})

test('a name and a description of several lines are saved as they were typed', async () => {
  const description = 'What we do.\n<b>All</b> of it.'
  const done = await admin.post(DETAILS, { displayName: 'The Team', description: description.replace('\n', '\r\n') })
  assert.is(done.headers.location, `${SETTINGS}?saved=details`)
  assert.equal((await stored()).description, description)
  const { body } = await admin.open(`${SETTINGS}?saved=details`)
  assert.match(body, 'The name and the description are saved.')
  assert.match(body, '>\nWhat we do.\n&lt;b&gt;All&lt;/b&gt; of it.</textarea>')
})

test('what was typed stays if it is wrong', async () => {
  const { statusCode, body } = await admin.post(DETAILS, { displayName: ' ', description: 'Kept' })
  assert.is(statusCode, 400)
  assert.match(body, 'The name must not be empty.')
  assert.match(body, 'Kept</textarea>')
  assert.match(
    (await admin.post(DETAILS, { displayName: 'A', description: 'x'.repeat(4_097) })).body,
    'The description must not be longer than 4096 characters.',
  )
})

test('a picture is shown once it is sent; what is no picture, or too large, is refused in words', async () => {
  const done = await admin.upload(PICTURE, await fileForm('picture', png))
  assert.is(done.headers.location, `${SETTINGS}?saved=picture`)
  const { avatarUrl } = await stored()
  assert.equal((await node.app.inject({ url: avatarUrl! })).rawPayload, png)
  for (const form of [await fileForm('picture', Buffer.from('GIF89a')), await fileForm('other', png)]) {
    const refused = await admin.upload(PICTURE, form)
    assert.is(refused.statusCode, 400)
    assert.match(refused.body, 'Choose a PNG, JPEG or WebP picture')
  }
  for (const size of [512 * 1024 + 1, 3 * 1024 * 1024]) {
    const refused = await admin.upload(
      PICTURE,
      await fileForm('picture', Buffer.concat([png, Buffer.alloc(size - png.length)])),
    )
    assert.is(refused.statusCode, 413)
    assert.match(refused.body, 'The picture is larger than 512 KiB')
  }
  const broken = { ...(await fileForm('picture', png)), payload: Buffer.from('--x') }
  assert.is((await admin.upload(PICTURE, broken)).statusCode, 400)
  assert.is((await stored()).avatarUrl, avatarUrl)
})

/** A namespace with sessions that last changed so many days ago. */
const newKept = async (...days: number[]) => {
  const ada = await signIn(node)
  for (const day of days) {
    ago = day
    await ada.newTrace({ title: `Of ${day} days ago` })
  }
  ago = 0
  const slug = ada.namespaceSlug
  const browser = browserOf(node, ada.token)
  const path = (name: string) => `/@${slug}/-/${name}`
  const save = (fields: Readonly<Record<string, string>>) =>
    browser.post(path('retention'), { keep: 'days', days: '', ...fields })
  return { browser, path, save, days: async () => (await stored(slug, ada)).retentionDays, settings: path('settings') }
}

test('a retention that deletes something is asked about with the number of sessions and the oldest one, before it is saved', async () => {
  const { browser, path, save, days, settings } = await newKept(40, 35, 10)
  const asked = await save({ days: '30' })
  assert.equal(
    [asked.statusCode, asked.headers.location, await days()],
    [303, `${path('retention')}?days=30`, undefined],
  )
  const { body } = await browser.open(`${path('retention')}?days=30`)
  assert.match(body, /<b>2 sessions<\/b> have not changed for 30 days, and would be deleted within minutes/)
  assert.match(body, /The oldest is <a [^>]*>Of 40 days ago<\/a>, last changed on/)
  assert.match(body, 'Save, and delete 2 sessions')
  const done = await save({ days: '30', confirmed: '30' })
  assert.equal([done.headers.location, await days()], [`${settings}?saved=retention#retention`, 30])
  assert.match(
    (await browser.open(settings)).body,
    /<b>2 sessions<\/b> have not changed for 30 days, and will be deleted/,
  )
})

test('a retention that deletes nothing yet says when it begins to', async () => {
  const { browser, path, save, days } = await newKept(10)
  const { body } = await browser.open(`${path('retention')}?days=30`)
  assert.match(
    body,
    /In <b>20 days<\/b> the first session would be deleted, unless it changes: <a [^>]*>Of 10 days ago/,
  )
  await save({ days: '30', confirmed: '29' })
  assert.is(await days(), undefined)
  await save({ days: '30', confirmed: '30' })
  assert.is(await days(), 30)
})

test('a longer retention, and none, are saved without a question', async () => {
  const { save, days, browser, settings } = await newKept()
  await save({ days: '30', confirmed: '30' })
  assert.match((await browser.open(settings)).body, 'The namespace has no sessions.')
  await save({ days: '31' })
  assert.is(await days(), 31)
  await save({ keep: 'ever' })
  assert.is(await days(), undefined)
})

test('a number of days that is none stays in the form', async () => {
  const { save, days, browser, path } = await newKept()
  for (const typed of ['0', '40000', '1.5', 'soon', '']) {
    const { statusCode, body } = await save({ days: typed })
    assert.is(statusCode, 400)
    assert.match(body, 'Type a whole number of days')
    assert.match(body, `value="${typed}"`)
  }
  assert.is(await days(), undefined)
  assert.is((await browser.open(`${path('retention')}?days=0`)).statusCode, 400)
})

test('who is no longer an admin is told so by the next form', async () => {
  const [ada, bob] = [await signIn(node), await signIn(node)]
  const { slug } = await ada.newTeam()
  await ada.admit(slug, bob, 'admin')
  const browser = browserOf(node, bob.token)
  assert.is((await browser.open(`/@${slug}/-/settings`)).statusCode, 200)
  await ada.send('PATCH', `/v1/namespaces/${slug}/members/${bob.userId}`, { role: 'member' })
  for (const answer of [
    await browser.post(`/@${slug}/-/details`, { displayName: 'Bob', description: '' }),
    await browser.post(`/@${slug}/-/details`, { displayName: '', description: '' }),
    await browser.post(`/@${slug}/-/retention`, { keep: 'days', days: '1', confirmed: '1' }),
    await browser.upload(`/@${slug}/-/picture`, await fileForm('picture', png)),
  ]) {
    assert.is(answer.statusCode, 403)
    assert.match(answer.body, 'You are not an admin of this namespace')
  }
})

test.run()
