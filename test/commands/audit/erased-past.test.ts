import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSigner } from '../../../src/server/proof/note.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import type { App } from '../../support/open-app.ts'
import { WITH_WORKER, newEmptyWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { run } from '../support/user.ts'

const test = suite('tracebook audit: an erased past')

const ends: (() => Promise<unknown>)[] = []
test.after(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const SECRET = 'what nobody may read'
const newPlace = async () => {
  const { database, openNode, close } = await newEmptyWorld({ readModels: false, env: WITH_WORKER })
  ends.push(close)
  return { url: database.url, openNode }
}

test('is shown until it is done, is left out of exports, and nothing else finds it', async () => {
  const double = await startDouble()
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-erased-'))
  ends.push(double.stop, () => rm(folder, { recursive: true }))
  const [{ url, openNode }, copy] = [await newPlace(), await newPlace()]
  const AUDIT_KEY = generateSigner('log.example.org').text
  const at = (place: string, EVENTSTORE_URL = '') => ({ DATABASE_URL: place, EVENTSTORE_URL, AUDIT_KEY })
  const audit = (...words: string[]) => run(['audit', ...words], { ...at(url), TRACEBOOK_CONFIG_DIR: folder })
  const env = { EVENTSTORE_URL: '', SUMMARY_PROVIDER: 'none', AUDIT_KEY }

  const app = await openNode({ env: { ...env, ROLES: 'api,projector' } })
  const { token, namespaceSlug } = await signIn(app)
  const ask = async (method: 'PUT' | 'POST', path: string, body: object = {}) =>
    assert.is((await app.call(method, `/v1/traces/t${path}`, { token, body })).status, 200)
  await ask('PUT', '', { title: SECRET })
  await ask('PUT', '/messages/m', { role: 'user', textContent: SECRET })
  const call = { type: 'tool_call', content: { callId: 'c', toolName: 'since', args: {} } }
  await ask('PUT', '/messages/m', { role: 'user', textContent: 'kept', parts: [call] })
  await ask('PUT', '', { title: 'kept' })
  await ask('POST', '/history/erase')
  const pending = await audit('erasures', '--json')
  const { state, onlyPast, trace } = JSON.parse(pending.out) as Record<string, { externalId: string }>
  assert.equal([state, onlyPast, trace!.externalId], ['pending', true, 't'])
  const before = join(folder, 'before.jsonl')
  assert.is((await audit('export', '--namespace', namespaceSlug, '--out', before)).how, 0)
  assert.not.match(await readFile(before, 'utf8'), SECRET)
  assert.match(await readFile(before, 'utf8'), '"MessageRestated"')
  await app.close()

  const worker = await openNode({ env })
  // The worker notes the erasure first, so there may be none yet in its table.
  await until(async () => (await audit('erasures')).out.includes('No trace was deleted'))
  assert.is((await audit('export', '--verify', before)).how, 0)
  const after = join(folder, 'after.jsonl')
  assert.is((await audit('export', '--out', after)).how, 0)
  assert.not.match(await readFile(after, 'utf8'), SECRET)
  await until(async () => (await audit('verify')).how === 0)
  assert.equal((await audit('replay', '--compare')).how, 0)

  const copied = await run(['log', 'copy', '--from', url, '--to', double.url, '--target-database', copy.url], {})
  assert.is(copied.how, 0, copied.err)
  const there = await copy.openNode({ env: { ...env, EVENTSTORE_URL: double.url } })
  const shown = async ({ call }: App, path: string) => (await call('GET', `/v1/traces/t${path}`, { token })).data
  for (const path of ['', '/messages?includeParts=true', '/events'])
    assert.equal(await shown(there, path), await shown(worker, path))
})

test.run()
