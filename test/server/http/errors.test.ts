import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ExplainedUnavailable, Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { toHttpError } from '../../../src/server/http/errors.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('errors')
const { node } = await openWorld(test)
const { app, call } = node

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const somebody = await signIn(node)

test('an invalid token and a missing token have different messages', async () => {
  assert.is(
    (await call('GET', '/v1/session')).error.message,
    'The request has no token: log in, and send it as `Authorization: Bearer <token>`',
  )
  for (const bad of ['tb_misspelt', 'x', `${somebody.token}x`]) {
    const { status, error } = await call('GET', '/v1/session', { token: bad })
    assert.equal([status, error.code], [401, 'unauthorized'])
    assert.match(error.message, /not valid: .*expired.*revoked/)
  }
  await somebody.newTrace({}, [], 'private')
  assert.match((await call('GET', '/v1/traces/private', { token: 'tb_x' })).error.message, /not valid/)
})

test('a reason that is meant for clients is shown to them, any other is only logged', () => {
  const explained = toHttpError(new ExplainedUnavailable('The past is being erased: try again later', 'unknown'))
  assert.equal(
    [explained.code, explained.message, explained.details],
    ['unavailable', 'The past is being erased: try again later', { stored: 'unknown' }],
  )
  const { code, message, details } = toHttpError(new Unavailable('row 7 of secret_table is damaged', false))
  assert.equal([code, details], ['unavailable', { stored: false }])
  assert.not.match(message, /secret/)
})

test('a known path answers other methods with 405, and lists those that it takes', async () => {
  for (const [method, url, allow] of [
    ['POST', '/v1/feed', 'GET, OPTIONS'],
    ['DELETE', '/v1/session/switch', 'POST, OPTIONS'],
    ['POST', '/v1/traces/t', 'GET, PUT, PATCH, DELETE, OPTIONS'],
    ['PUT', '/', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/v1/traces/t/messages/batch', 'POST, PUT, OPTIONS'],
  ] as const) {
    const { statusCode, headers, body } = await app.inject({ method, url, payload: { any: 'body' } })
    assert.equal([statusCode, headers.allow], [405, allow], `${method} ${url}`)
    const { ok, error } = JSON.parse(body) as { ok: boolean; error: { code: string; message: string } }
    assert.equal([ok, error.code], [false, 'method_not_allowed'])
    assert.match(error.message, new RegExp(`takes ${allow}, not ${method}`))
  }
  assert.is((await app.inject({ method: 'POST', url: '/v1/nothing' })).statusCode, 404)
  await somebody.newTrace({}, [], 't')
  const named = await somebody.ask('PUT', '/v1/traces/t/messages/batch', { role: 'user' })
  assert.is(named.status, 200, 'a message may be called so')
  assert.is((await app.inject({ method: 'OPTIONS', url: '/v1/feed' })).statusCode, 204)
})

test('a browser gets a page for what does not exist or needs a token; programs get JSON', async () => {
  await somebody.newTrace({}, [], 'private')
  for (const [url, status, title] of [
    ['/nothing', 404, 'Not found'],
    ['/@nobody/nothing', 404, 'Not found'],
    ['/v1/traces/nothing', 404, 'Not found'],
    ['/v1/traces/private', 401, 'Sign in first'],
    ['/v1/namespaces', 401, 'Sign in first'],
  ] as const) {
    const page = await app.inject({ url, headers: html })
    assert.equal([page.statusCode, page.headers['content-type']], [status, 'text/html; charset=utf-8'], url)
    assert.match(page.body, `<h1>${title}</h1>`)
    assert.match(String(page.headers['content-security-policy']), "default-src 'none'")
    assert.match(String(page.headers.vary), 'accept')
    const { statusCode, body } = await app.inject({ url, headers: { accept: 'application/json' } })
    assert.equal([statusCode, (JSON.parse(body) as { ok: boolean }).ok], [status, false])
  }
  const mangled = await app.inject({ url: '/@nobody/%zz', headers: html })
  assert.equal([mangled.statusCode, mangled.headers.vary], [404, 'accept'])
  assert.match(mangled.body, '<h1>Not found</h1>')
  // Nobody was looked up, so the page says neither who is signed in nor that nobody is.
  assert.not.match(mangled.body, /sign in|href="\/settings"/i)
  assert.is((await app.inject({ url: '/@nobody/%zz' })).statusCode, 400)
  const posted = await app.inject({ method: 'POST', url: '/nothing', headers: html })
  assert.is(posted.headers['content-type'], 'application/json; charset=utf-8')
})

test('the page of a message leads back to the message after a sign-in, by a command that every shell takes as it is', async () => {
  await somebody.newTrace({}, [], 'quoted')
  const page = async (url: string) => (await app.inject({ url, headers: html })).body.replaceAll('&quot;', '"')
  const path = `/@${somebody.namespaceSlug}/quoted`
  const body = await page(`${path}?m=a%20b&view=talk`)
  assert.match(body, new RegExp(` open "http://[^/ ]+${path}\\?m=a%20b"<`))
  assert.match(body, `/signin?next=${encodeURIComponent(`${path}?m=a%20b&view=talk`)}`)
  const { body: signIn } = await app.inject({
    url: `/signin?next=${encodeURIComponent(`${path}?m=a%20b`)}`,
    headers: html,
  })
  assert.match(signIn.replaceAll('&quot;', '"'), new RegExp(` open "http://[^/ ]+${path}\\?m=a%20b"<`))
  const hostile = await page(`/@nobody/x;echo$(id)'*?m=";id`)
  assert.match(hostile, /open "http:[^ ]*\/@nobody\/x%3Becho%24%28id%29%27%2A\?m=%22%3Bid"</)
})

test.run()
