import { createServer } from 'node:http'
import { once } from 'node:events'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { download } from '../../../src/client/transfer/download.ts'
import { newAccountClient } from '../../../src/client/api/account.ts'
import { networkReason } from '../../../src/client/api/answer-data.ts'
import { probe } from '../../../src/client/api/probe.ts'
import { errorOf } from '../../eventstore/log/support/events.ts'
import { newCertificate } from '../../support/certificate.ts'

const test = suite('why a service cannot be reached')

/** What is said of a request that fails. */
const reasonOf = (url: string): Promise<string> =>
  fetch(url).then(
    () => assert.unreachable() as never,
    (error: unknown) => networkReason(error),
  )

test('the reason says that a port refuses connections, or does not speak TLS', async () => {
  const server = createServer((_request, response) => response.end())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  assert.match(await reasonOf(`https://127.0.0.1:${port}`), /^the server does not speak TLS: try http:/)
  await new Promise((closed) => server.close(closed))
  assert.is(await reasonOf(`http://127.0.0.1:${port}`), 'connection refused')
})

test('the reason names the variable that makes the certificate of a server known', async () => {
  const { key, certificate: cert } = newCertificate()
  const server = https.createServer({ key, cert }, (_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  assert.match(await reasonOf(url), 'set NODE_EXTRA_CA_CERTS to a file (PEM) with the certificate of the authority')
  const attempts = [
    newAccountClient(url, 'token').session(),
    download({ server: url, path: '/', token: undefined }).next(),
  ]
  for (const failing of attempts)
    assert.match(((await errorOf(failing)) as Error).message, /^cannot reach https:.*NODE_EXTRA_CA_CERTS/)
  const { is, why } = (await probe(url)) as { is: string; why: string }
  assert.is(is, 'out of reach')
  assert.match(why, 'NODE_EXTRA_CA_CERTS')
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
})

test('the reason says that a host name is unknown; any other error is shown unchanged', () => {
  const failed = (cause: object) => networkReason(Object.assign(new TypeError('fetch failed'), { cause }))
  assert.is(failed({ code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND h' }), 'no host has this name')
  assert.is(failed({ code: 'EWHATEVER', message: 'something else' }), 'something else')
  assert.is(failed({ code: 'EWHATEVER' }), 'EWHATEVER')
})

test.run()
