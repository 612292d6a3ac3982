import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { callerOf, sharedWorld, signIn } from '../../support/world.ts'

const test = suite('web: settings')
const { node } = await sharedWorld()
const { app, call } = node

const ORIGIN = 'http://localhost:3000'
let devices = 0
const start = () => {
  devices += 1
  return signIn(node, `the device ${devices}`, { deviceName: `laptop ${devices}` })
}

const cookieOf = ({ token }: NewSession) => ({ cookie: `tracebook=${token}` })
const read = (url: string, headers: Record<string, string>) =>
  app.inject({ url, headers: { accept: 'text/html', host: 'localhost:3000', ...headers } })

/** Posts a form as a browser does from a page of the service. */
const post = (url: string, fields: Record<string, string>, headers: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url,
    headers: {
      ...{ accept: 'text/html', host: 'localhost:3000', origin: ORIGIN, 'sec-fetch-site': 'same-origin' },
      ...{ 'content-type': 'application/x-www-form-urlencoded', ...headers },
    },
    payload: new URLSearchParams(fields).toString(),
  })

test('a viewer who is not signed in is asked to sign in', async () => {
  const { statusCode, body } = await read('/settings', {})
  assert.is(statusCode, 401)
  assert.match(body, '.tgz open')
  assert.is((await post('/settings/name', { displayName: 'Eve' }, {})).statusCode, 401)
})

test('a name is saved, and shown', async () => {
  const session = await start()
  const { statusCode, headers } = await post('/settings/name', { displayName: 'Ada <b>' }, cookieOf(session))
  assert.equal([statusCode, headers.location], [303, '/settings?saved=name'])
  const { body } = await read('/settings?saved=name', cookieOf(session))
  assert.match(body, 'value="Ada &lt;b&gt;"')
  assert.match(body, 'Your name is saved.')
  const unknown = await read('/settings?saved=unknown', cookieOf(session))
  assert.is(unknown.statusCode, 200)
  assert.not.match(unknown.body, 'is saved')
})

test('the form has the exact name, and a refused name leads back to the page', async () => {
  const session = await start()
  const name = 'Ada \u061c\u202e'
  await post('/settings/name', { displayName: name }, cookieOf(session))
  assert.match((await read('/settings', cookieOf(session))).body, `value="${name}"`)
  const refused = await post(
    '/settings/name',
    { displayName: 'x'.repeat(2_000) },
    { ...cookieOf(session), referer: `${ORIGIN}/settings` },
  )
  assert.is(refused.statusCode, 400)
  assert.match(refused.body, /displayName .*characters/)
  assert.match(refused.body, '<a class="btn" href="/settings">Try again</a>')
  const foreign = await post(
    '/settings/name',
    { displayName: 'x'.repeat(2_000) },
    { ...cookieOf(session), referer: 'https://evil.example/x' },
  )
  assert.not.match(foreign.body, 'Try again')
  assert.match(foreign.body, '<a href="/">All sessions</a>')
})

test('a form of another site does nothing', async () => {
  const session = await start()
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: ORIGIN, 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    const answer = await post('/settings/name', { displayName: 'Eve' }, { ...cookieOf(session), ...headers })
    assert.is(answer.statusCode, 403)
    assert.match(answer.body, 'does not come from a page of this service')
  }
  assert.not.match((await read('/settings', cookieOf(session))).body, 'Eve')
})

test('another device is signed out, and signing out this one leads to the first page', async () => {
  const session = await start()
  const made = await call('POST', '/v1/session/device', { token: session.token })
  const body = { deviceId: `device-${(devices += 1)}-joined`, joinCode: (made.data as { code: string }).code }
  const { session: other } = await callerOf(node).send<{ session: NewSession }>('POST', '/v1/session', body)
  const ended = await post('/settings/session/end', { id: other.id }, cookieOf(session))
  assert.is(ended.headers.location, '/settings?saved=session')
  assert.is((await call('GET', '/v1/session', { token: other.token })).status, 401)
  const own = await post('/settings/session/end', { id: session.id }, cookieOf(session))
  assert.is(own.headers.location, '/')
  assert.match(String(own.headers['set-cookie']), 'tracebook=; Path=/; Max-Age=0')
  assert.is((await read('/settings', cookieOf(session))).statusCode, 401)
})

test('a device without a name of its own is called as its first session calls it', async () => {
  const session = await start()
  const made = await call('POST', '/v1/session/browser', { token: session.token, headers: { host: 'localhost:3000' } })
  const code = new URL((made.data as { url: string }).url).searchParams.get('code')!
  assert.is((await post('/v1/auth/browser', { code }, {})).statusCode, 303)
  const { body } = await read('/settings', cookieOf(session))
  const [, identities = ''] = body.split('id="identities"')
  assert.match(identities, `<b dir="auto">${session.deviceName}</b>`)
})

test('the session of another user cannot be ended, and the only identity stays', async () => {
  const [session, stranger] = [await start(), await start()]
  assert.is((await post('/settings/session/end', { id: stranger.id }, cookieOf(session))).statusCode, 404)
  assert.is((await call('GET', '/v1/session', { token: stranger.token })).status, 200)
  const answer = await post('/settings/identity/remove', { id: session.identityId }, cookieOf(session))
  assert.is(answer.statusCode, 409)
  assert.match(String(answer.headers['content-type']), 'text/html')
})

test('signing out ends the session', async () => {
  const session = await start()
  assert.is((await post('/settings/sign-out', {}, cookieOf(session))).headers.location, '/')
  assert.is((await call('GET', '/v1/session', { token: session.token })).status, 401)
})

test('theme and keys are choices of the browser that already apply to the next page', async () => {
  const session = await start()
  const { headers } = await post('/settings/look', { theme: 'dark', keys: 'off' }, cookieOf(session))
  const cookies = [headers['set-cookie']].flat().map((line) => String(line).split(';')[0]!)
  assert.equal(cookies, ['theme=dark', 'keys=off'])
  const { body } = await read('/', { cookie: cookies.join('; ') })
  assert.match(body, '<html lang="en" data-theme="dark" data-keys="off">')
  assert.match((await read('/', { cookie: 'theme="><script>' })).body, 'data-theme="system"')
  assert.is((await post('/settings/look', { theme: 'pink', keys: 'off' }, cookieOf(session))).statusCode, 400)
})

test.run()
