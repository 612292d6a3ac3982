import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import type { RedactionOptions } from '../../../src/client/redaction/session.ts'
import { newLiveSessions } from '../../../src/client/upload/live-sessions.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { answerLine, call, result, userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('the secrets of a session that is read again and again')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const [key, other] = ['q7Zr4TnW2kXvB9mLpC3sJd8F', 'Hd83kQz1VbN6wYt5RfXg0LcP']
const turns = Array.from({ length: 200 }, (_, index) =>
  userLine(`u-${index}`, `prompt ${index} ${'and so on '.repeat(50)}`),
)
const telling = userLine('u-key', `API_KEY=${key}`)

/** A session in the folder of its agent; what each run reads of it, and looks through. */
const newWatched = (world: ClientWorld, lines: readonly string[]) => {
  const folder = join(world.home, '.claude', 'projects', '-w-app')
  mkdirSync(folder, { recursive: true })
  const file = writeSession(folder, 's-1.jsonl', lines)
  let read: boolean[] = []
  let characters = 0
  const agent: Agent = {
    ...claudeCode,
    sessions: async function* (path) {
      for await (const stored of claudeCode.sessions(path))
        yield {
          ...stored,
          read: async (options) => {
            const session = await stored.read(options)
            read.push(session.isContinued === true)
            return session
          },
        }
    },
  }
  const live = newLiveSessions()
  const redacting = (usual: RedactionOptions): RedactionOptions => ({
    ...usual,
    find: (text, about) => {
      characters += text.length
      return usual.find(text, about)
    },
  })
  /** Adds lines, and gives what the next run does. */
  const run = async (...added: readonly string[]) => {
    appendFileSync(file, added.map((line) => `${line}\n`).join(''))
    ;[read, characters] = [[], 0]
    world.server.requests.length = 0
    const { summary, events } = await world.sync({ agents: [agent], redacting, live })
    const told = events.flatMap((event) => (event.type === 'redaction' ? [`${event.externalId} ${event.where}`] : []))
    const sent = world.server.requests.map(({ text }) => text).join('\n')
    return { summary, told, sent, read, characters }
  }
  return { run, file }
}

test('in a session that has a secret, only added lines are read and searched', async ({ world }) => {
  const { run } = newWatched(world, [...turns, telling])
  const first = await run()
  assert.equal([first.read, first.told], [[false], ['u-key parts/0/text']])
  assert.ok(first.characters > 80_000)
  for (const id of ['u-a', 'u-b', 'u-c']) {
    const next = await run(userLine(id, `again ${key} in ${id}`))
    assert.match(next.sent, new RegExp(`again \\[redacted:secret-value\\] in ${id}`))
    assert.equal([next.read, next.summary.messages], [[true], 1])
    assert.ok(next.characters < 2_000, `${next.characters} characters looked through`)
  }
})

test('a line with a new secret causes one reading of the whole session, and no repeated report', async ({ world }) => {
  const { run } = newWatched(world, [userLine('u-bare', `it is ${other}`), ...turns, telling])
  await run()
  const { read, told, sent, summary } = await run(userLine('u-other', `TOKEN=${other}`))
  assert.equal(read, [true, false])
  assert.equal([told, summary.redacted], [['u-other parts/0/text'], 1])
  assert.match(sent, /it is \[redacted:secret-value\]/)
  const next = await run(userLine('u-next', `${key} and ${other}`))
  assert.equal([next.read, next.told], [[true], []])
  assert.match(next.sent, /\[redacted:secret-value\] and \[redacted:secret-value\]/)
})

test('a short secret is redacted only where it was found, so that no other line is read', async ({ world }) => {
  const { run } = newWatched(world, [...turns, telling])
  await run()
  const { read, told } = await run(userLine('u-short', 'password: sesame9'))
  assert.equal([read, told], [[true], ['u-short parts/0/text']])
})

test('a call that reads an environment file is remembered until its result comes', async ({ world }) => {
  const { run } = newWatched(world, [
    ...turns,
    answerLine('a-1', 'm-1', [call('c-1', 'Read', { file_path: '/w/.env' })]),
  ])
  await run()
  assert.equal((await run(userLine('u-on', 'go on'))).read, [true])
  const { read, sent } = await run(userLine('u-result', [result('c-1', 'LOGIN_NAME=ada-lovelace-1815\n')]))
  assert.match(sent, /LOGIN_NAME=\[redacted:env-value\]/)
  // It is a secret like any other: it may stand in what was sent.
  assert.equal(read, [true, false])
})

test('a session that another process has read is read whole', async ({ world }) => {
  const { run } = newWatched(world, [...turns, telling])
  await run()
  const alone = newWatched(world, [...turns, telling, userLine('u-x', `again ${key}`)])
  const { read, sent } = await alone.run()
  assert.equal(read, [false])
  assert.not.match(sent, new RegExp(key))
})

test('no secret is written to the state of the client', async ({ world }) => {
  await newWatched(world, [...turns, telling]).run()
  for (const entry of world.configFiles())
    if (entry.isFile()) assert.not.ok(readFileSync(join(entry.parentPath, entry.name)).includes(key), entry.name)
})

test.run()
