import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sharedWorld } from '../../support/world.ts'
import { ORIGIN, githubLike, openWithProvider } from './support/world.ts'

const test = suite('the page to sign in on')
const world = await openWithProvider(test, githubLike)
const { app, provider, consent, arrive } = world
const { node: plain } = await sharedWorld()

const cookiesOf = (headers: Record<string, unknown>): string =>
  [headers['set-cookie']]
    .flat()
    .map((line) => String(line).split(';')[0]!)
    .join('; ')

/** Presses the button of the page, as a browser does. */
const press = (next: string, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/signin/codehost',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN, accept: 'text/html', ...headers },
    payload: new URLSearchParams({ next }).toString(),
  })

/** Signs in a browser; the cookies and the address where it ends. */
const signIn = async (next: string) => {
  const started = await press(next)
  assert.is(started.statusCode, 303, started.body)
  const cookie = cookiesOf(started.headers)
  const back = await arrive(await consent({ authorizeUrl: started.headers.location! }), { cookie })
  return { status: back.statusCode, location: back.headers.location, cookie: cookiesOf(back.headers) }
}

test('a browser signs in with the code host, and returns to the page that it came from', async () => {
  provider.account = { id: '1', login: 'ada' }
  const { status, location, cookie } = await signIn('/@ada/a-session?m=1')
  assert.equal([status, location], [302, `${ORIGIN}/@ada/a-session?m=1`])
  const read = (url: string) => app.inject({ url, headers: { accept: 'text/html', cookie } })
  assert.match((await read('/settings')).body, 'browser')
  const again = await read('/signin?next=/settings')
  assert.equal([again.statusCode, again.headers.location], [303, '/settings'])
})

test('the same account is the same user, who has no other device', async () => {
  provider.account = { id: '2', login: 'bob' }
  const identities = async () => {
    const { cookie } = await signIn('/')
    const { body } = await app.inject({ url: '/v1/user/identities', headers: { cookie } })
    return (JSON.parse(body) as { data: { identities: { id: string; type: string }[] } }).data.identities
  }
  const first = await identities()
  assert.equal(
    first.map(({ type }) => type),
    ['codehost'],
  )
  assert.equal(await identities(), first)
})

test('a sign-in does not lead to another site', async () => {
  provider.account = { id: '3', login: 'eve' }
  for (const next of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '',
    '///evil.example',
    `${ORIGIN}//evil.example`,
  ]) {
    const { location } = await signIn(next)
    assert.is(new URL(location!, ORIGIN).origin, ORIGIN, next)
    const { cookie } = await signIn('/')
    const { headers } = await app.inject({ url: `/signin?next=${encodeURIComponent(next)}`, headers: { cookie } })
    assert.match(headers.location!, /^\/(?![/\\])/, next)
  }
})

test('a form of another site starts no sign-in', async () => {
  const { statusCode } = await press('/', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
  assert.is(statusCode, 403)
})

test('without a code host the page names the command, and has no form', async () => {
  const { statusCode, body } = await plain.app.inject({ url: '/signin', headers: { accept: 'text/html' } })
  assert.is(statusCode, 200)
  assert.match(body, '.tgz open')
  assert.not.match(body, 'method="post"')
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const answer = await plain.app.inject({ method: 'POST', url: '/signin/codehost', headers: form, payload: 'next=/' })
  assert.is(answer.statusCode, 404)
})

test.run()
