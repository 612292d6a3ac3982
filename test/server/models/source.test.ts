import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSource } from '../../../src/server/models/source.ts'

const test = suite('model source')
const folder = await mkdtemp(join(tmpdir(), 'source-'))
const file = join(folder, 'api.json')
await writeFile(file, '{"p": 1}')

let answer: RequestListener = (_, response) => response.end()
const server = createServer((request, response) => answer(request, response))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`
test.after(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true })
})

const never = new AbortController().signal
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error: Error) => error.message,
  )

test('a file is read by its path or its URL', async () => {
  const expected = { is: 'read', text: '{"p": 1}', etag: undefined }
  assert.equal(await readSource(file, undefined, never), expected)
  assert.equal(await readSource(pathToFileURL(file).href, undefined, never), expected)
})

test('a source with the same ETag is not sent again', async () => {
  answer = (request, response) => {
    const isSame = request.headers['if-none-match'] === '"1"'
    response.writeHead(isSame ? 304 : 200, { etag: '"1"' }).end(isSame ? undefined : 'text')
  }
  assert.equal(await readSource(url, undefined, never), { is: 'read', text: 'text', etag: '"1"' })
  assert.equal(await readSource(url, '"1"', never), { is: 'same' })
  assert.equal(await readSource(url, '"0"', never), { is: 'read', text: 'text', etag: '"1"' })
})

test('a source that cannot be read gives the reason', async () => {
  answer = (_, response) => response.writeHead(503).end('secret')
  assert.is(await failure(readSource(url, undefined, never)), 'it answered 503')
  assert.match(await failure(readSource(join(folder, 'none'), undefined, never)), 'ENOENT')
  assert.match(await failure(readSource('http://127.0.0.1:1/', undefined, never)), /bad port|ECONNREFUSED/)
})

test('a source that is too large is given up', async () => {
  answer = (_, response) => response.write('x'.repeat(2_000)) // and never ends
  assert.match(await failure(readSource(url, undefined, never, { maxBytes: 1_000 })), 'larger than 1000 bytes')
  assert.match(await failure(readSource(file, undefined, never, { maxBytes: 3 })), 'larger than 3 bytes')
})

test('a source that hangs is given up', async () => {
  answer = () => {}
  assert.match(await failure(readSource(url, undefined, never, { timeoutMs: 50 })), 'did not answer within 50 ms')
  answer = (_, response) => response.write('{')
  assert.match(await failure(readSource(url, undefined, never, { timeoutMs: 50 })), 'did not answer within 50 ms')
})

test('a stop ends the reading', async () => {
  answer = () => stop.abort()
  const stop = new AbortController()
  assert.match(await failure(readSource(url, undefined, stop.signal)), 'abort')
})

test.run()
