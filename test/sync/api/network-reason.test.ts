import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { networkReason } from '../../../src/sync/api/answer-data.ts'

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

test('the reason says that a host name is unknown; any other error is shown unchanged', () => {
  const failed = (cause: object) => networkReason(Object.assign(new TypeError('fetch failed'), { cause }))
  assert.is(failed({ code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND h' }), 'no host has this name')
  assert.is(failed({ code: 'EWHATEVER', message: 'something else' }), 'something else')
  assert.is(failed({ code: 'EWHATEVER' }), 'EWHATEVER')
})

test.run()
