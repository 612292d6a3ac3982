import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../src/server/config.ts'
import { buildApp } from '../../../src/server/service/app.ts'
import { newHostCheck } from '../../../src/server/http/host.ts'
import { sharedWorld } from '../../support/world.ts'

const test = suite('the hosts that a service answers to')
const apps: FastifyInstance[] = []
test.after(async () => {
  for (const app of apps) await app.close()
})
const { node } = await sharedWorld()

/** The same service with other settings, on a port of this machine. */
const serve = async (env: Record<string, string>) => {
  const { HOST, PUBLIC_URL, ALLOWED_HOSTS } = readConfig(env)
  const app = await buildApp({ ...node.service, config: { ...node.service.config, HOST, PUBLIC_URL, ALLOWED_HOSTS } })
  apps.push(app)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const raw = async (head: string[]) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.end([...head, 'connection: close', '', ''].join('\r\n'))
    const [answered = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { status: Number(answered.split(' ')[1]), head: answered, body }
  }
  return { app, raw }
}

const ofThisMachine = [
  'localhost',
  'LocalHost:80',
  '127.0.0.1:3000',
  '127.8.9.10',
  '[::1]',
  '[::1]:3000',
  '[0:0:0:0:0:0:0:1]',
]
const named = ['traces.example.org', 'Traces.Example.Org:443', '192.0.2.7:1', '[2001:db8:0::7]:3000']
const ofUrl = ['tracebook.example.net', 'tracebook.example.net:8443']
const foreign = [
  'evil.example',
  'localhost.evil.example',
  'evil.traces.example.org',
  'traces.example.org.',
  '127.0.0.1.evil.example:3000',
  '10.0.0.1',
  '[::2]',
]
const brokenOnes = [
  '',
  'a b',
  'user@localhost',
  'localhost:x',
  'localhost/',
  '[::1',
  'localhost:99999',
  '%6cocalhost',
  'a:1:2',
]
const list = 'traces.example.org, 192.0.2.7,2001:db8::7'

for (const HOST of ['127.0.0.1', '127.0.0.9', 'localhost', '::1', '0.0.0.0', '::', '192.0.2.1', 'box.example']) {
  for (const ALLOWED_HOSTS of ['', list]) {
    for (const PUBLIC_URL of ['', 'https://tracebook.example.net']) {
      test(`on ${HOST}, with ALLOWED_HOSTS ${ALLOWED_HOSTS || 'unset'} and PUBLIC_URL ${PUBLIC_URL || 'unset'}`, () => {
        const check = newHostCheck(readConfig({ HOST, ALLOWED_HOSTS, PUBLIC_URL }))
        const codeOf = (host: string) =>
          check({ rawHeaders: ['accept', '*/*', 'Host', host], httpVersion: '1.1' })?.code
        const isLoopback = ['127.0.0.1', '127.0.0.9', 'localhost', '::1'].includes(HOST)
        const isChecked = isLoopback || ALLOWED_HOSTS !== ''
        const refused = isChecked ? 'forbidden' : undefined
        for (const host of ofThisMachine) assert.is(codeOf(host), undefined, host)
        for (const host of named) assert.is(codeOf(host), ALLOWED_HOSTS ? undefined : refused, host)
        for (const host of ofUrl) assert.is(codeOf(host), PUBLIC_URL ? undefined : refused, host)
        for (const host of foreign) assert.is(codeOf(host), refused, host)
        for (const host of brokenOnes) assert.is(codeOf(host), 'invalid_request', host)
        const without = (httpVersion: string) => check({ rawHeaders: [], httpVersion })?.code
        assert.is(without('1.1'), 'invalid_request')
        assert.is(without('1.0'), isChecked ? 'invalid_request' : undefined)
      })
    }
  }
}

test('an invalid ALLOWED_HOSTS is an error of the configuration', () => {
  for (const ALLOWED_HOSTS of ['a:3000', 'https://a.example', '[::1]:80', 'a,,b', '*.example.org/x', 'a b'])
    assert.throws(() => readConfig({ ALLOWED_HOSTS }), /ALLOWED_HOSTS: must be names/, ALLOWED_HOSTS)
})

const urls = [
  '/',
  '/health',
  '/health/ready',
  '/metrics',
  '/docs',
  '/docs/static/index.html',
  '/openapi.json',
  '/v1/feed',
  '/nowhere',
  '/%',
]

test('on loopback every request for a foreign host is refused in the envelope', async () => {
  const { app } = await serve({})
  for (const url of urls) {
    const own = await app.inject({ url, headers: { host: '127.0.0.1:3000' } })
    assert.is.not(own.statusCode, 403, url)
    const { statusCode, headers, body } = await app.inject({ url, headers: { host: 'evil.example:3000' } })
    assert.is(statusCode, 403, url)
    const { ok, error } = JSON.parse(body)
    assert.equal([ok, error.code], [false, 'forbidden'])
    assert.match(error.message, 'evil.example')
    assert.match(String(headers['content-security-policy']), "default-src 'none'", url)
    assert.ok(headers['x-request-id'], url)
  }
  for (const method of ['OPTIONS', 'POST', 'PUT', 'DELETE'] as const) {
    const { statusCode } = await app.inject({ method, url: '/v1/session', headers: { host: 'evil.example' } })
    assert.is(statusCode, 403, method)
  }
})

test('X-Forwarded-Host does not count', async () => {
  const { app } = await serve({})
  const headers = { host: 'evil.example', 'x-forwarded-host': 'localhost' }
  assert.is((await app.inject({ url: '/health', headers })).statusCode, 403)
})

test('a missing, malformed or repeated Host header gives a clear 400', async () => {
  const loopback = await serve({})
  const open = await serve({ HOST: '0.0.0.0' })
  for (const { raw } of [loopback, open]) {
    for (const head of [
      ['GET /health HTTP/1.1'],
      ['GET /health HTTP/1.1', 'host:'],
      ['GET /health HTTP/1.1', 'host: a b'],
      ['GET /health HTTP/1.1', 'host: localhost', 'Host: evil.example'],
    ]) {
      const { status, head: answered, body } = await raw(head)
      assert.is(status, 400, head.join())
      assert.match(answered, /x-request-id: \S+/)
      assert.match(JSON.parse(body).error.message, /Host header/)
    }
  }
  assert.is((await loopback.raw(['GET /health HTTP/1.0'])).status, 400)
  assert.is((await open.raw(['GET /health HTTP/1.0'])).status, 200)
  assert.is((await loopback.raw(['GET /health HTTP/1.0', 'host: 127.0.0.1'])).status, 200)
})

test.run()
