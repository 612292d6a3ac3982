import Fastify, { type FastifyRequest } from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../src/server/config.ts'
import { newTrustedOriginCheck } from '../../../src/server/http/origin.ts'

const test = suite('http: pages whose cookies count')

/** Whether they count from a page of an origin that asks for the service by a host. */
const counts = (env: Record<string, string>, host: string, origin?: string) =>
  newTrustedOriginCheck(Fastify(), readConfig(env))({ protocol: 'http', headers: { host, origin } } as FastifyRequest)

test('without PUBLIC_URL our own pages are those of the host that the request was sent to', () => {
  const env = { HOST: '0.0.0.0', PORT: '3000' }
  for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', '10.0.0.5:3000', 'box.lan:3000'])
    assert.ok(counts(env, host, `http://${host}`), host)
  assert.not(counts(env, 'localhost:3000', 'http://localhost:8080'))
  assert.not(counts(env, 'localhost:3000', 'https://localhost:3000'))
  assert.not(counts(env, 'box.lan:3000', 'http://evil.example'))
  assert.not(counts(env, 'box.lan:3000', 'null'))
  assert.not(counts(env, 'box.lan:3000'))
})

test('with PUBLIC_URL our own pages are those of its host, and of loopback names', () => {
  const env = { HOST: '127.0.0.1', PORT: '3000', PUBLIC_URL: 'https://traces.example.org' }
  assert.ok(counts(env, 'traces.example.org', 'https://traces.example.org'))
  assert.ok(counts(env, 'localhost:3000', 'http://localhost:3000'))
  assert.not(counts(env, 'traces.example.org', 'http://traces.example.org'))
})

test.run()
