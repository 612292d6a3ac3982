import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSession } from '../client/support/read-session.ts'
import { userLine, writeSession } from '../client/support/session-file.ts'
import { ask, assertSame, type Detail, type Feed, messagesOf, tokenIn } from './support/api.ts'
import { inWorld, type World } from './support/world.ts'

const test = suite('login and sync against the service')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')
const [session, agent] = ['5e550000-0000-4000-8000-000000000001', 'agent-a1b2c3d4']
const project = join(fixtures, 'projects', '-w-app')
const files = { [session]: `${session}.jsonl`, [agent]: join(session, 'subagents', `${agent}.jsonl`) }

/** A world in which the user has the sessions of the fixtures. */
const withSessions = (work: (world: World) => Promise<unknown>) =>
  inWorld((world) => {
    cpSync(fixtures, world.user.claude, { recursive: true })
    return work(world)
  })

const documents = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('a synced session comes back unchanged, is sent once, and can be seen when it is public', () =>
  withSessions(async ({ url, user }) => {
    const first = await user.run('sync')
    assert.equal([first.how, first.err], [0, ''])
    assert.match(first.out, /\nsynced 2 sessions: 6 messages \(6 new\)\n$/)
    const token = tokenIn(user.config)
    for (const [id, file] of Object.entries(files)) {
      const { session: parsed, messages } = await readSession(join(project, file))
      assertSame(await messagesOf(url, id, token), messages)
      const { trace } = await ask<{ trace: Detail }>(url, `/v1/traces/${id}`, { token })
      assert.equal(
        [trace.messageCount, trace.title, trace.visibility, trace.parentExternalId],
        [messages.length, parsed.trace.title, 'private', id === agent ? session : undefined],
      )
    }

    const before = await ask<{ trace: Detail }>(url, `/v1/traces/${session}`, { token })
    assert.is((await user.run('sync')).out, 'nothing was sent: 2 sessions unchanged\n')
    assert.equal(await ask(url, `/v1/traces/${session}`, { token }), before)

    assert.equal(await ask<Feed>(url, '/v1/feed'), { traces: [], isAuthenticated: false })
    await ask(url, `/v1/traces/${session}`, { token, method: 'PATCH', body: { visibility: 'public' } })
    const { traces } = await ask<Feed>(url, '/v1/feed')
    assert.equal(
      traces.map(({ externalId }) => externalId),
      [session],
    )
    const { messages } = await readSession(join(project, files[session]!))
    assertSame(await messagesOf(url, session), messages)

    await ask(url, `/v1/traces/${session}`, { token, method: 'DELETE' })
    assert.is((await user.run('sync', '--visibility', 'private')).how, 0)
    assert.equal((await ask<Feed>(url, '/v1/feed')).traces, [])
  }))

test('--json tells scripts the same, and a failure shows in the exit code', () =>
  withSessions(async ({ user, folder, newMachine }) => {
    assert.is((await newMachine('stranger').run('sync')).how, 2, 'not logged in')
    const whole = await user.run('sync', '--json')
    assert.equal([whole.how, whole.err], [0, ''])
    const told = documents(whole.out)
    assert.equal(
      told.map(({ type }) => type),
      ['start', 'session', 'session', 'summary'],
    )
    const { synced, messages, new: added, exitCode } = told.at(-1)!
    assert.equal({ synced, messages, added, exitCode }, { synced: 2, messages: 6, added: 6, exitCode: 0 })

    mkdirSync(join(folder, 'broken'))
    const broken = writeSession(join(folder, 'broken'), 's-1.jsonl', [userLine('u-1', 'hello')])
    writeFileSync(broken, '{"type":\n', { flag: 'a' })
    const partly = await user.run('sync', '--json', broken)
    assert.equal([partly.how, documents(partly.out)[1]?.['kind']], [0, 'line_skipped'])

    for (const args of [['sync', '--nonsense'], ['sync', '/no/such/file'], ['nonsense'], ['serve', '--nonsense']])
      assert.is((await user.run(...args)).how, 2, args.join(' '))
  }))

test('numbers, key order and odd text come back as they went in', () =>
  withSessions(async ({ url, user, folder }) => {
    mkdirSync(join(folder, 'odd'))
    const input =
      '{"z":1,"a":12345678901234567890,"__proto__":{"x":1.5},"nul":"\\u0000","half":"\\ud800","deep":[[[{}]]]}'
    const line = userLine('u-1', 'odd').replace(
      '"odd"',
      `[{"type":"tool_use","id":"t-1","name":"Bash","input":${input}}]`,
    )
    const message = line
      .replace('"type":"user"', '"type":"assistant"')
      .replace('"role":"user"', '"id":"m-1","role":"assistant"')
    const file = writeSession(join(folder, 'odd'), 's-1.jsonl', [message])
    const { how, err } = await user.run('sync', file)
    assert.is(how, 0, err)
    const answer = await fetch(`${url}/v1/traces/s-1/messages?includeParts=true`, {
      headers: { authorization: `Bearer ${tokenIn(user.config)}` },
    })
    assert.match(await answer.text(), `"args":${input}`)
  }))

test.run()
