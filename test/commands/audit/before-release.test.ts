import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findingsOf } from '../../server/proof/verify/support.ts'
import { WITH_WORKER, openEmptyWorld, signIn } from '../../support/world.ts'
import { run } from '../support/user.ts'

const test = suite('a log of before the first release')
const { database, openNode } = await openEmptyWorld(test, { readModels: false, env: WITH_WORKER })

/** Exported by a version whose tables this one refuses: two people, a team, and four traces, one of them deleted, one with an erased past. */
const file = join(import.meta.dirname, 'support', 'log-before-release.ndjson')

test('is imported, and has all that it had', async () => {
  const { how, err } = await run(['audit', 'import', file], { DATABASE_URL: database.url, EVENTSTORE_URL: '' })
  assert.is(how, 0, err)
  const { ask, send } = await signIn(await openNode(), 'a-device-of-ada-0123456789')
  const { trace } = await send<{ trace: { title: string; messageCount: number } }>('GET', '/v1/traces/plain')
  assert.equal([trace.title, trace.messageCount], ['The plain one, again', 12])
  type List = { messages: { parts: { type: string }[]; textContent?: string }[] }
  for (const name of ['plain', 'erased']) {
    const { messages } = await send<List>('GET', `/v1/traces/${name}/messages?includeParts=true`)
    assert.equal(
      messages.map(({ textContent, parts }) => textContent ?? parts.map(({ type }) => type).join()),
      Array.from({ length: 12 }, (_, i) => {
        if (i % 2 === 0) return `question ${i} of ${name}`
        return i === 1 ? 'text,error' : 'thinking,text,tool_call,tool_result'
      }),
    )
  }
  assert.is((await ask('GET', '/v1/traces/deleted')).status, 404)
  const { members } = await send<{ members: { role: string }[] }>('GET', '/v1/namespaces/team/members')
  assert.equal(members.map(({ role }) => role), ['admin']) // prettier-ignore
  const { events } = await send<{ events: { type: string }[] }>('GET', '/v1/traces/plain/events')
  assert.ok(events.some(({ type }) => type === 'MessagesUpserted'))
  assert.equal(await findingsOf(database), [])
})

test.run()
