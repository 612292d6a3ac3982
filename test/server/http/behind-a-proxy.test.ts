import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CurrentSession } from '../../../src/contract/sessions.ts'
import type { App } from '../../support/open-app.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('http: behind a proxy that ends TLS')
const HOST = 'traces.example.org'
const { node: distrustful, openNode } = await openWorld(test, { env: { ALLOWED_HOSTS: HOST } })
const nodes = {
  trusting: await openNode({ env: { TRUST_PROXY: 'loopback' } }),
  distrustful,
  named: await openNode({ env: { TRUST_PROXY: 'loopback', PUBLIC_URL: `https://${HOST}`, ALLOWED_HOSTS: '' } }),
}

const over = (proto: string | undefined) => ({
  host: HOST,
  'x-forwarded-for': '192.0.2.7',
  ...(proto === undefined ? {} : { 'x-forwarded-proto': proto }),
})

/** Signs a browser in with a one-time code; returns the cookie that it gets. */
const signBrowserIn = async (node: App, headers: Record<string, string>, origin: string) => {
  const { app } = node
  const made = await app.inject({
    method: 'POST',
    url: '/v1/session/browser',
    headers: { ...headers, ...(await signIn(node)).headers },
  })
  assert.is(made.statusCode, 200, made.body)
  const url = new URL(made.json().data.url)
  assert.is(url.origin, origin)
  const pressed = await app.inject({
    method: 'POST',
    url: url.pathname,
    headers: { ...headers, origin, 'content-type': 'application/x-www-form-urlencoded' },
    payload: `code=${url.searchParams.get('code')}`,
  })
  assert.is(pressed.statusCode, 303, pressed.body)
  return String(pressed.headers['set-cookie'])
}

const isSignedIn = async ({ app }: App, headers: Record<string, string>, cookie: string) =>
  (await app.inject({ url: '/v1/session', headers: { ...headers, cookie } })).statusCode === 200

const hsts = async ({ app }: App, url: string, headers: Record<string, string>) =>
  (await app.inject({ url, headers })).headers['strict-transport-security']

for (const proto of ['https', 'HTTPS', 'http, https'])
  test(`over ${proto}, as a trusted proxy says, the cookie is secure and for this host only`, async () => {
    const node = nodes.trusting
    const headers = over(proto)
    const set = await signBrowserIn(node, headers, `https://${HOST}`)
    assert.match(set, /^__Host-tracebook=tb_[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/)
    const cookie = set.split(';')[0]!
    assert.ok(await isSignedIn(node, headers, cookie))
    assert.not(await isSignedIn(node, { host: 'localhost' }, cookie), 'over http on loopback it is not asked for')
    assert.not(await isSignedIn(node, headers, cookie.replace('__Host-', '')), 'another host may have set this one')
    const { csrfToken } = (await node.app.inject({ url: '/v1/session', headers: { ...headers, cookie } })).json()
      .data as CurrentSession
    const left = await node.app.inject({
      method: 'DELETE',
      url: '/v1/session',
      headers: { ...headers, cookie, 'x-csrf-token': csrfToken! },
    })
    assert.match(String(left.headers['set-cookie']), /^__Host-tracebook=; Path=\/; Max-Age=0; .*; Secure$/)
  })

test('settings of a browser are secure cookies there, too', async () => {
  const headers = over('https')
  const cookie = (await signBrowserIn(nodes.trusting, headers, `https://${HOST}`)).split(';')[0]!
  const { statusCode, headers: answered } = await nodes.trusting.app.inject({
    method: 'POST',
    url: '/settings/look',
    headers: {
      ...headers,
      cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: 'theme=dark&keys=on',
  })
  assert.is(statusCode, 303)
  assert.match(String(answered['set-cookie']), /theme=dark; [^,]*; Secure/)
})

test('without a proxy that says https, the same service sets the cookie of http on loopback', async () => {
  const set = await signBrowserIn(nodes.trusting, { host: 'localhost:3000' }, 'http://localhost:3000')
  assert.match(set, /^tracebook=tb_[^;]+; [^]*SameSite=Lax$/)
})

test('a proxy that is not trusted is not believed', async () => {
  const set = await signBrowserIn(nodes.distrustful, over('https'), `http://${HOST}`)
  assert.match(set, /^tracebook=tb_[^;]+; [^]*SameSite=Lax$/)
  assert.is(await hsts(nodes.distrustful, '/health', over('https')), undefined)
})

test('Strict-Transport-Security is sent over https by what a trusted proxy says, else by PUBLIC_URL', async () => {
  const { trusting, named } = nodes
  for (const url of ['/health', '/v1/feed', '/nowhere', '/', '/v1/user']) {
    assert.is(await hsts(trusting, url, over('https')), 'max-age=31536000', url)
    assert.is(await hsts(trusting, url, over('http')), undefined, url)
    assert.is(await hsts(trusting, url, over(undefined)), undefined, url)
    assert.is(await hsts(named, url, over('https')), 'max-age=31536000', url)
    assert.is(await hsts(named, url, over('http')), undefined, url)
    assert.is(await hsts(named, url, over(undefined)), 'max-age=31536000', url)
  }
  assert.is(await hsts(trusting, '/health', { ...over('https'), host: 'evil.example' }), 'max-age=31536000')
})

test('the cookie stays secure if PUBLIC_URL says https, whatever the proxy says', async () => {
  const set = await signBrowserIn(nodes.named, over('http'), `https://${HOST}`)
  assert.match(set, /^__Host-tracebook=tb_[^]*; Secure$/)
})

test.run()
