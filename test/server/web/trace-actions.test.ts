import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { markOfTitle } from '../../../src/server/pages/trace-actions.ts'
import { type Caller, callers, newTeam } from '../../access/team.ts'
import { callerOf, openWorld } from '../../support/world.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'

const test = suite('web: a session is shared, renamed and deleted')
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
      for (const action of ['visibility', 'rename', 'delete']) {
        const { statusCode, body } = await open(caller, `${id}/-/${action}`)
        assert.is(statusCode, expected, `${action} of a ${visibility} session`)
        if (expected !== 200) assert.not.match(body, 'Title of')
      }
      const wanted = visibility === 'public' ? 'private' : 'public'
      const shared = await post(caller, `${id}/-/visibility`, { visibility: wanted })
      assert.is(shared.statusCode, expected === 200 ? 303 : expected)
      assert.is(await visibilityOf(id), expected === 200 ? wanted : visibility)
      const was = markOfTitle({ title: `Title of ${id}` })
      const renamed = await post(caller, `${id}/-/rename`, { title: `Title of ${id}`, was })
      assert.is(renamed.statusCode, expected === 200 ? 303 : expected)
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

test('of a long title the beginning can be typed', async () => {
  const title = 'Please mend the page of a session, where the title is as long as what was asked for, which was a lot'
  await call('PUT', '/v1/traces/long', { token: team.tokenOf('creator', 'here'), body: { title } })
  const typed = 'Please mend the page of a session, where the title is as long as what was asked'
  assert.match(
    (await open('creator', 'long/-/delete')).body,
    `the beginning of its title to go on: <code dir="auto">${typed}<`,
  )
  assert.is((await post('creator', 'long/-/delete', { title: typed.slice(0, -2) })).statusCode, 400)
  assert.is((await post('creator', 'long/-/delete', { title: typed })).statusCode, 303)
})

const titleOf = async (id: string) => {
  const { data } = await call('GET', `/v1/traces/${id}`, { token: team.tokenOf('creator', 'here') })
  return (data as { trace: { title?: string } }).trace.title
}
const retitle = (id: string, title: string | undefined) =>
  call('PUT', `/v1/traces/${id}`, {
    token: team.tokenOf('creator', 'here'),
    body: title === undefined ? {} : { title },
  })

/** What the form of renaming has in its fields. */
const formOf = (body: string) => {
  const [, was = ''] = /name="was" value="([^"]*)"/.exec(body) ?? []
  const field = elementsOf(body).find(({ tagName }) => tagName === 'textarea')
  return { was, title: field && textOf(field) }
}

test('a session is renamed on one line, by the title that its page has shown', async () => {
  await retitle('called', 'The first')
  const { was, title } = formOf((await open('creator', 'called/-/rename')).body)
  assert.is(title, 'The first')
  const { statusCode, headers } = await post('creator', 'called/-/rename', { title: ' The\r\nsecond  ', was })
  assert.equal([statusCode, headers.location, await titleOf('called')], [303, '/@the-team/called', 'The second'])
  assert.is((await post('creator', 'called/-/rename', { title: 'The second', was })).statusCode, 303, 'sent twice')
})

test('whoever has not seen the present title is told it, keeps what was typed, and may then replace it', async () => {
  await retitle('twice', 'The first')
  const { was } = formOf((await open('creator', 'twice/-/rename')).body)
  await post('admin', 'twice/-/rename', { title: 'By the admin', was })
  const late = await post('creator', 'twice/-/rename', { title: 'By the creator', was })
  assert.equal([late.statusCode, await titleOf('twice')], [409, 'By the admin'])
  assert.match(late.body, /role="alert">.*renamed meanwhile.*By the admin/)
  const again = formOf(late.body)
  assert.is(again.title, 'By the creator')
  assert.is((await post('creator', 'twice/-/rename', { title: 'By the creator', was: again.was })).statusCode, 303)
  assert.is(await titleOf('twice'), 'By the creator')
})

test('of two who rename at once one is first, and the other is told', async () => {
  for (let round = 0; round < 5; round++) {
    await retitle('at-once', `Round ${round}`)
    const { was } = formOf((await open('creator', 'at-once/-/rename')).body)
    const sent = await Promise.all(
      (['creator', 'admin'] as const).map((caller) => post(caller, 'at-once/-/rename', { title: `By ${caller}`, was })),
    )
    assert.equal(sent.map(({ statusCode }) => statusCode).sort(), [303, 409])
    assert.is(await titleOf('at-once'), sent[0]!.statusCode === 303 ? 'By creator' : 'By admin')
  }
})

test('a title that is empty or too long is refused, and stays in the form', async () => {
  await retitle('refused', 'The first')
  const { was } = formOf((await open('creator', 'refused/-/rename')).body)
  for (const [title, why] of [
    [' \n ', 'Type a title.'],
    ['x'.repeat(10_000), 'The title must not be longer than 4096 characters.'],
  ] as const) {
    const { statusCode, body } = await post('creator', 'refused/-/rename', { title, was })
    assert.equal([statusCode, formOf(body).was, formOf(body).title], [400, was, title.trim()])
    assert.match(body, why)
  }
  assert.is(await titleOf('refused'), 'The first')
  for (const title of ['会'.repeat(4_096), '🙂'.repeat(4_096)]) {
    const before = formOf((await open('creator', 'refused/-/rename')).body)
    assert.is((await post('creator', 'refused/-/rename', { title, was: before.was })).statusCode, 303)
    assert.is(await titleOf('refused'), title)
  }
})

test('whatever a title is made of, its form shows it as text, and renames from it', async () => {
  for (const title of [
    'a\0b',
    'half \ud83d of it',
    '‮abc עברית',
    '</textarea><b>"&amp;',
    '👩‍👩‍👧‍👦'.repeat(300),
    'a\nb\u2028c',
    undefined,
  ]) {
    await retitle('any', title ?? '')
    const { body } = await open('creator', 'any/-/rename')
    const form = formOf(body)
    assert.not.match(body, '<b>"')
    const renamed = await post('creator', 'any/-/rename', { title: '<i>Renamed</i> \u202e', was: form.was })
    assert.is(renamed.statusCode, 303, JSON.stringify(title))
    assert.is(await titleOf('any'), '<i>Renamed</i> \u202e')
  }
})

test('no other site renames a session', async () => {
  await retitle('kept', 'Title of kept')
  const { was } = formOf((await open('creator', 'kept/-/rename')).body)
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }] as const)
    assert.is((await post('creator', 'kept/-/rename', { title: 'Evil', was }, headers)).statusCode, 403)
  assert.is(await titleOf('kept'), 'Title of kept')
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
