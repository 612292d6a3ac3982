import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { findingsOf } from '../../server/proof/verify/support.ts'
import { run } from '../support/user.ts'

const test = suite('a log of before the first release')

/** Exported by a version whose tables this one refuses: two people, a team, and four traces, one of them deleted, one with an erased past. */
const file = join(import.meta.dirname, 'support', 'log-before-release.ndjson')

test('is imported, and has all that it had', async () => {
  const database = await freshDatabase({ readModels: false })
  const { how, err } = await run(['audit', 'import', file], { DATABASE_URL: database.url, EVENTSTORE_URL: '' })
  assert.is(how, 0, err)
  const app = await openApp(database.url)
  try {
    const { data } = await app.call('POST', '/v1/session', { body: { deviceId: 'a-device-of-ada-0123456789' } })
    const { token } = (data as { session: { token: string } }).session
    const get = async (path: string) => (await app.call('GET', path, { token })).data as never
    const { trace } = (await get('/v1/traces/plain')) as { trace: { title: string; messageCount: number } }
    assert.equal([trace.title, trace.messageCount], ['The plain one, again', 12])
    for (const name of ['plain', 'erased']) {
      const path = `/v1/traces/${name}/messages?includeParts=true`
      const { messages } = (await get(path)) as { messages: { parts: { type: string }[]; textContent?: string }[] }
      assert.equal(
        messages.map(({ textContent, parts }) => textContent ?? parts.map(({ type }) => type).join()),
        Array.from({ length: 12 }, (_, i) => {
          if (i % 2 === 0) return `question ${i} of ${name}`
          return i === 1 ? 'text,error' : 'thinking,text,tool_call,tool_result'
        }),
      )
    }
    assert.is((await app.call('GET', '/v1/traces/deleted', { token })).status, 404)
    const { members } = (await get('/v1/namespaces/team/members')) as { members: { role: string }[] }
    assert.equal(members.map(({ role }) => role), ['admin']) // prettier-ignore
    const { events } = (await get('/v1/traces/plain/events')) as { events: { type: string }[] }
    assert.ok(events.some(({ type }) => type === 'MessagesUpserted'))
    assert.equal(await findingsOf(database), [])
  } finally {
    await app.close()
    await database.drop()
  }
})

test.run()
