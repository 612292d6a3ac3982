import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, callers, newTeam } from '../../access/team.ts'
import { callerOf, openWorld } from '../../support/world.ts'

const test = suite('web: a session is shared and deleted')
const { node } = await openWorld(test)
const { app, call } = node

const team = await newTeam(node, 'the-team')
const put = (id: string, visibility: string) =>
  call('PUT', `/v1/traces/${id}`, {
    token: team.tokenOf('creator', 'here'),
    body: { visibility, title: `Title of ${id}` },
  })
const visibilityOf = async (id: string) => {
  const { data } = await call('GET', `/v1/traces/${id}`, { token: team.tokenOf('creator', 'here') })
  return (data as { trace: { visibility: string } } | undefined)?.trace.visibility
}

const headersOf = (caller: Caller): Record<string, string> => {
  const token = team.tokenOf(caller, 'here')
  return {
    accept: 'text/html',
    host: 'localhost:3000',
    ...(token === undefined ? {} : { cookie: `tracebook=${token}` }),
  }
}
const open = (caller: Caller, path: string) => app.inject({ url: `/@the-team/${path}`, headers: headersOf(caller) })
const post = (caller: Caller, path: string, fields: Record<string, string>, more: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: `/@the-team/${path}`,
    headers: {
      ...headersOf(caller),
      ...{ origin: 'http://localhost:3000', 'content-type': 'application/x-www-form-urlencoded' },
      ...more,
    },
    payload: new URLSearchParams(fields).toString(),
  })

/** The status for a caller, of a private session and of a public one. */
const statuses: Readonly<Record<Caller, readonly [number, number]>> = {
  nobody: [401, 401],
  revoked: [401, 401],
  stranger: [404, 404],
  former: [404, 404],
  member: [403, 403],
  creator: [200, 200],
  admin: [200, 200],
}

for (const caller of callers) {
  test(`${caller}: only those who may write to the session get its pages and forms`, async () => {
    for (const [i, visibility] of (['private', 'public'] as const).entries()) {
      const expected = statuses[caller][i]!
      const id = `of-${caller}-${visibility}`
      await put(id, visibility)
      for (const action of ['visibility', 'delete']) {
        const { statusCode, body } = await open(caller, `${id}/-/${action}`)
        assert.is(statusCode, expected, `${action} of a ${visibility} session`)
        if (expected !== 200) assert.not.match(body, 'Title of')
      }
      const wanted = visibility === 'public' ? 'private' : 'public'
      const shared = await post(caller, `${id}/-/visibility`, { visibility: wanted })
      assert.is(shared.statusCode, expected === 200 ? 303 : expected)
      assert.is(await visibilityOf(id), expected === 200 ? wanted : visibility)
      const deleted = await post(caller, `${id}/-/delete`, { title: `Title of ${id}` })
      assert.is(deleted.statusCode, expected === 200 ? 303 : expected)
      assert.is(await visibilityOf(id), expected === 200 ? undefined : visibility)
    }
  })
}

test('whoever made a session public is told so once, with the link, and that what comes later is public too', async () => {
  await put('published', 'private')
  assert.match((await open('creator', 'published/-/visibility')).body, /What is added\nto it later becomes public too/)
  const { headers } = await post('creator', 'published/-/visibility', { visibility: 'public' })
  assert.is(headers.location, '/@the-team/published?published')
  const told =
    /id="published" role="status">.*Everybody can read this session now.*href="http:\/\/localhost:3000\/@the-team\/published"/s
  assert.match((await open('creator', 'published?published')).body, told)
  assert.not.match((await open('creator', 'published')).body, 'id="published"')
  for (const caller of ['nobody', 'member'] as const)
    assert.not.match((await open(caller, 'published?published')).body, 'id="published"')
  await put('published', 'private')
  assert.not.match((await open('creator', 'published?published')).body, 'id="published"')
  assert.is(
    (await post('creator', 'published/-/visibility', { visibility: 'private' })).headers.location,
    '/@the-team/published',
  )
})

test('the page says what everybody would see before a session is made public', async () => {
  await call('PUT', '/v1/traces/told', {
    token: team.tokenOf('creator', 'here'),
    body: { title: 'Told', projectPath: '/home/ada/shop', gitRemoteUrl: 'https://git.example.org/shop' },
  })
  const { body } = await open('creator', 'told/-/visibility')
  for (const text of ['/home/ada/shop', 'https://git.example.org/shop', 'Everybody', 'Members of @the-team'])
    assert.match(body, text)
})

test('a session moves to another team of the viewer, where no others can read it, and nowhere else', async () => {
  const creator = callerOf(node, team.tokenOf('creator', 'here'))
  const path = 'moving/-/visibility'
  await creator.send('POST', '/v1/namespaces', { slug: 'second', displayName: 'The second' })
  await put('moving', 'public')
  const { body } = await open('creator', path)
  assert.match(body, 'value="@second"')
  assert.not.match(body, 'value="@the-team"')
  assert.not.match((await open('admin', path)).body, '@second')
  assert.is((await post('creator', path, { visibility: '@no-such-team' })).statusCode, 404)
  assert.is((await post('admin', path, { visibility: '@second' })).statusCode, 404)
  await put('moving', 'public')
  const moved = await post('creator', path, { visibility: '@second' })
  assert.equal([moved.statusCode, moved.headers.location], [303, '/@second/moving'])
  const { trace } = await creator.send<{ trace: object }>('GET', '/v1/traces/moving?namespace=second')
  assert.match(JSON.stringify(trace), '"visibility":"private"')
  assert.is((await open('admin', 'moving')).statusCode, 404)
})

test('a title of any length can be typed', async () => {
  const title = '会'.repeat(4_096)
  await call('PUT', '/v1/traces/long', { token: team.tokenOf('creator', 'here'), body: { title } })
  assert.is((await post('creator', 'long/-/delete', { title })).statusCode, 303)
})

test('a title may be typed with the characters of a keyboard', async () => {
  const title = 'Why does it say “can’t” …  and stop?'
  await call('PUT', '/v1/traces/signs', { token: team.tokenOf('creator', 'here'), body: { title } })
  assert.is((await post('creator', 'signs/-/delete', { title: 'Why does it say "can\'t" ...' })).statusCode, 400)
  const typed = 'Why does it say "can\'t" ... and stop?'
  assert.is((await post('creator', 'signs/-/delete', { title: typed })).statusCode, 303)
})

test('nothing is deleted under another title, nor by a form of another site', async () => {
  await put('kept', 'private')
  const wrong = await post('creator', 'kept/-/delete', { title: 'Title of kep' })
  assert.is(wrong.statusCode, 400)
  assert.match(wrong.body, 'This is not the title. Nothing was deleted.')
  assert.match(wrong.body, 'value="Title of kep"')
  for (const path of ['kept/-/delete', 'kept/-/visibility']) {
    const fields = { title: 'Title of kept', visibility: 'public' }
    assert.is((await post('creator', path, fields, { origin: 'https://evil.example' })).statusCode, 403)
  }
  assert.is(await visibilityOf('kept'), 'private')
})

test.run()
