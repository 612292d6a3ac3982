import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, type Place, callers, openTeam } from '../../access/team.ts'
import { callerOf, signIn } from '../../support/world.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'

const test = suite('web: who sees which sessions')
const { app, team } = await openTeam(test)
const { token: others } = await signIn(app)
for (const [token, name] of [
  [team.tokenOf('member', 'here'), 'ours'],
  [others, 'theirs'],
] as const) {
  for (const visibility of ['private', 'public'])
    await app.call('PUT', `/v1/traces/${name}-${visibility}`, {
      token,
      body: { visibility, title: `${name} ${visibility}` },
    })
}

const page = (url: string, token: string | undefined) => callerOf(app, token).open(url)

/** The titles of the sessions on a page, without those of who has left. */
const titles = async (url: string, token: string | undefined): Promise<string[]> => {
  const { statusCode, body } = await page(url, token)
  assert.is(statusCode, 200, url)
  return elementsOf(body)
    .filter(({ attrs }) => attrs.some(({ name, value }) => name === 'class' && value === 'name'))
    .map(textOf)
    .filter((title) => !title.startsWith('former'))
    .sort()
}

const PUBLIC = ['ours public', 'theirs public']
const isMember = (caller: Caller) => ['member', 'creator', 'admin'].includes(caller)

for (const place of ['here', 'elsewhere'] as const satisfies readonly Place[]) {
  for (const caller of callers) {
    test(`${caller}, ${place}: the page of a namespace has all of its sessions for members, the public ones for others`, async () => {
      const expected = isMember(caller) ? ['ours private', 'ours public'] : ['ours public']
      assert.equal(await titles('/@the-team', team.tokenOf(caller, place)), expected)
    })

    test(`${caller}, ${place}: the first page has the sessions of the active namespace, or the public ones`, async () => {
      const token = team.tokenOf(caller, place)
      const hasSession = !['nobody', 'revoked'].includes(caller)
      const isInTeam = isMember(caller) && place === 'here'
      assert.equal(await titles('/', token), !hasSession ? PUBLIC : isInTeam ? ['ours private', 'ours public'] : [])
      assert.equal(await titles('/?scope=public', token), PUBLIC)
    })

    test(`${caller}, ${place}: the list of own sessions has those in the active namespace`, async () => {
      const hasSession = !['nobody', 'revoked'].includes(caller)
      const isAuthor = caller === 'member' && place === 'here'
      const expected = !hasSession ? PUBLIC : isAuthor ? ['ours private', 'ours public'] : []
      assert.equal(await titles('/?scope=mine', team.tokenOf(caller, place)), expected)
    })
  }
}

test('a missing namespace answers 404, and so does a private session to all but its readers', async () => {
  assert.is((await page('/@nothing-here', undefined)).statusCode, 404)
  assert.is((await page('/@not a slug', undefined)).statusCode, 404)
  for (const url of ['/', '/@the-team', '/?scope=public'])
    assert.not.match((await page(url, team.tokenOf('stranger', 'here'))).body, /(?:ours|theirs) private/)
})

test('the page of an error says how to continue', async () => {
  const nobody = await page('/@the-team/ours-private?m=1', undefined)
  assert.is(nobody.statusCode, 401)
  assert.match(nobody.body, /\.tgz open &quot;http:\/\/[^/]+\/@the-team\/ours-private\?m=1&quot;</)
  const stranger = await page('/@the-team/ours-private', team.tokenOf('stranger', 'here'))
  assert.is(stranger.statusCode, 404)
  assert.not.match(stranger.body, '.tgz open')
  assert.match(
    (await page('/?cursor=nonsense', undefined)).body,
    '<a class="btn" href="/">Open the page from its beginning</a>',
  )
})

test('the page of a missing address shows a signed-in viewer as signed in', async () => {
  const member = await page('/no/such/place', team.tokenOf('member', 'here'))
  assert.is(member.statusCode, 404)
  assert.match(member.body, 'href="/settings"')
  assert.not.match(member.body, '.tgz open')
  for (const token of [undefined, team.tokenOf('revoked', 'here')])
    assert.match((await page('/no/such/place', token)).body, '.tgz open')
})

test('a query that one viewer adds to the address of a public session is not shown to others', async () => {
  await page('/@the-team/ours-public?token=a-secret', undefined)
  assert.not.match((await page('/@the-team/ours-public', undefined)).body, 'a-secret')
})

test('a session that is no longer public is removed from the pages at once', async () => {
  const token = team.tokenOf('member', 'here')
  const put = (visibility: string) =>
    app.call('PUT', '/v1/traces/fleeting', { token, body: { visibility, title: 'fleeting' } })
  await put('public')
  assert.ok((await titles('/', undefined)).includes('fleeting'))
  await put('private')
  for (const url of ['/', '/@the-team']) assert.not.match((await page(url, undefined)).body, 'fleeting')
})

test('older sessions are on the next page, each once', async () => {
  const token = team.tokenOf('stranger', 'elsewhere')
  const names = Array.from({ length: 60 }, (_, i) => `session ${String(i).padStart(2, '0')}`)
  for (const name of names)
    await app.call('PUT', `/v1/traces/${encodeURIComponent(name)}`, { token, body: { title: name } })
  const shown: string[] = []
  for (let url: string | undefined = '/'; url !== undefined;) {
    const { body } = await page(url, token)
    shown.push(...(await titles(url, token)))
    url = elementsOf(body)
      .flatMap(({ attrs }) => (attrs.some(({ value }) => value === 'next') ? attrs : []))
      .find(({ name }) => name === 'href')?.value
  }
  assert.equal(shown.sort(), names)
})

test.run()
