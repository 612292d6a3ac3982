import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { StoredSession } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { newContentFirst } from '../../../src/client/upload/new-content-first.ts'
import { readStamp } from '../../../src/client/upload/read-session.ts'
import type { Found } from '../../../src/client/upload/sync-sessions.ts'

const test = suite('new content first')

const earlier = { ...claudeCode, version: claudeCode.version - 1 }
const storedAt = (source: string, stamp: string): StoredSession => ({
  source,
  files: [{ path: source, stamp }],
  read: () => Promise.reject(new Error('is not read here')),
})

/** What earlier runs have read, and by which version. */
const read = new Map([
  ['/same', readStamp(claudeCode, storedAt('/same', 'a'))],
  ['/old', readStamp(earlier, storedAt('/old', 'a'))],
  ['/old-grown', readStamp(earlier, storedAt('/old-grown', 'a'))],
])
const origins = {
  originOf: (source: string) => {
    const stamp = read.get(source)
    return stamp === undefined ? undefined : { stamp, projectPath: undefined }
  },
}

test('sessions that only another version has read come after all others', async () => {
  const found: Found[] = [
    { agent: claudeCode, stored: storedAt('/old', 'a') },
    { agent: claudeCode, stored: storedAt('/same', 'a') },
    { path: '/broken', error: new Error('cannot be read') },
    { agent: claudeCode, stored: storedAt('/old-grown', 'b') },
    { agent: claudeCode, stored: storedAt('/new', 'a') },
  ]
  const all = async function* () {
    yield* found
  }
  const ordered = await Array.fromAsync(newContentFirst(origins, all()))
  assert.equal(
    ordered.map((one) => ('error' in one ? one.path : one.stored.source)),
    ['/same', '/broken', '/old-grown', '/new', '/old'],
  )
})

test.run()
