import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sharedWorld } from '../../support/world.ts'

const test = suite('what pages load')
const { node } = await sharedWorld()
const { app } = node

const addresses = async (): Promise<readonly string[]> => {
  const { body } = await app.inject({ url: '/', headers: { accept: 'text/html' } })
  return [...body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, address]) => address!)
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

test('a page names its style sheet, icon and scripts, which caches keep for ever', async () => {
  const named = await addresses()
  assert.equal([...new Set(named.map((address) => address.split('.').at(-1)))].sort(), ['css', 'js', 'svg'])
  for (const url of named) {
    const { statusCode, headers, body } = await app.inject({ url })
    assert.is(statusCode, 200, url)
    assert.is(headers['content-type'], types[url.split('.').at(-1)!], url)
    assert.is(headers['cache-control'], 'public, max-age=31536000, immutable', url)
    assert.is(headers['x-content-type-options'], 'nosniff', url)
    assert.is(headers['cross-origin-resource-policy'], 'same-origin', url)
    assert.match(String(headers.vary), 'accept-encoding', url)
    assert.not.ok('content-encoding' in headers, url)
    assert.ok(body.length > 0, url)
  }
})

test('a file is compressed as the client accepts it', async () => {
  for (const url of await addresses()) {
    const plain = (await app.inject({ url })).rawPayload
    const ask = async (accepted: string) => {
      const { headers, rawPayload } = await app.inject({ url, headers: { 'accept-encoding': accepted } })
      return { encoding: headers['content-encoding'], rawPayload }
    }
    const smallest = await ask('gzip, deflate, br, zstd')
    assert.is(smallest.encoding, 'br')
    assert.equal(brotliDecompressSync(smallest.rawPayload), plain)
    const zipped = await ask('gzip;q=0.5, br;q=0')
    assert.is(zipped.encoding, 'gzip')
    assert.equal(gunzipSync(zipped.rawPayload), plain)
    assert.is((await ask('identity')).encoding, undefined)
  }
})

test('any other name is not found', async () => {
  for (const url of ['/assets/', '/assets/none.js', '/assets/..%2fpackage.json', '/assets/__proto__'])
    assert.is((await app.inject({ url })).statusCode, 404, url)
})

test.run()
