import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { clientFileName } from '../../../src/base/client-line.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('web: the first page')
const { node, openNode } = await openWorld(test)
const { app } = node

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

test('the first page tells a browser what the service is, and how to begin', async () => {
  const { statusCode, headers, body } = await app.inject({ url: '/', headers: browser })
  assert.is(statusCode, 200)
  assert.match(String(headers['content-type']), 'text/html')
  assert.match(String(headers['content-security-policy']), "default-src 'none'")
  assert.match(String(headers['content-security-policy']), "frame-ancestors 'none'")
  assert.is(headers['x-frame-options'], 'DENY')
  for (const command of ['login', 'sync']) assert.match(body, `.tgz ${command}`)
  const links = [...body.matchAll(/href="([^"#]+)"/g)].map(([, link]) => link!)
  assert.ok(links.length >= 4)
  for (const url of links) assert.is((await app.inject({ url, headers: browser })).statusCode, 200, url)
})

/** The command with which the pages of a service tell to log in, to a browser that asks by this host. */
const loginLine = async (env: Record<string, string>, host: string): Promise<string> => {
  const { app: asked } = await openNode({ env })
  const [first, help] = await Promise.all(
    ['/', '/help'].map(async (url) => (await asked.inject({ url, headers: { ...browser, host } })).body),
  )
  const line = /<code>(np[^<]* login [^<]*)</.exec(first!)![1]!
  assert.match(help!, `<code>${line}</code>`)
  return line
}

test('the commands on the first page fetch the client by PUBLIC_URL over https or from this machine, else they are those of a clone', async () => {
  const packed = `client/${clientFileName}`
  for (const host of ['127.0.0.1:3000', 'localhost:21100'])
    assert.is(
      await loginLine({ PORT: '3000' }, host),
      `npx --yes http://127.0.0.1:3000/${packed} login --server http://127.0.0.1:3000`,
    )
  assert.is(
    await loginLine({ PUBLIC_URL: 'https://traces.example.org/' }, '127.0.0.1:3000'),
    `npx --yes https://traces.example.org/${packed} login --server https://traces.example.org`,
  )
  assert.is(
    await loginLine({ PUBLIC_URL: 'http://traces.lan' }, 'traces.lan'),
    'npx tracebook login --server http://traces.lan',
  )
  for (const env of [{ HOST: '0.0.0.0' }, { ALLOWED_HOSTS: 'traces.lan' }, { TRUST_PROXY: 'loopback' }])
    assert.match(await loginLine(env, '127.0.0.1:3000'), /^npx tracebook login --server http:/, Object.keys(env)[0])
})

test('an unknown scope in the address shows the first page', async () => {
  const [page, other] = [
    await app.inject({ url: '/', headers: browser }),
    await app.inject({ url: '/?scope=other', headers: browser }),
  ]
  const [shown, expected] = [other, page].map(({ body }) => body.replace(/ data-now="\d+"/, ''))
  assert.equal([other.statusCode, shown], [200, expected])
})

test('a wrong cursor in the address leads to the first page of the same list', async () => {
  const { headers: signedIn } = await signIn(node)
  for (const [url, first, headers] of [
    ['/?cursor=bad', '/', browser],
    ['/?scope=public&cursor=bad', '/?scope=public', browser],
    ['/?scope=mine&cursor=bad', '/?scope=mine', { ...browser, ...signedIn }],
  ] as const) {
    const { statusCode, body } = await app.inject({ url, headers })
    assert.is(statusCode, 400)
    assert.match(body, '<h1>This link does not work</h1>')
    assert.match(body, `<a class="btn" href="${first}">`)
    assert.not.match(body, /cursor|Invalid request/)
  }
})

test('a client that is not a browser gets 404 for the first page', async () => {
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const answer = await app.inject({ url: '/', headers })
    assert.is(answer.statusCode, 404)
    assert.is(answer.json().error.code, 'not_found')
  }
})

test.run()
