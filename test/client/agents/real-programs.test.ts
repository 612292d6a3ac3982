import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Usage } from '../../../src/contract/usage.ts'
import type { SessionMessage } from '../../../src/client/agents/agent.ts'
import { agents } from '../../../src/client/agents/index.ts'
import { findSessionFiles } from '../../../src/client/agents/session-files.ts'
import { factOf, factsIn } from '../../../src/server/trace/messages/facts.ts'
import { ShapeSoFar } from '../../../src/server/trace/shape.ts'
import { readSessions } from '../support/read-session.ts'
import { sessionsOfPrograms } from '../support/shared-data.ts'

const test = suite('sessions that the real programs wrote')

/** What happened in one session, known from the provider that the program talked to. */
type Happened = {
  readonly prompts: number
  readonly calls: number
  readonly failed: number
  readonly errors?: number
}

const happenedIn = (folder: string): readonly Happened[] =>
  (JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as { readonly happened: readonly Happened[] })
    .happened

/** What the service counts in a session, and how many errors there are. */
const countsOf = (messages: readonly SessionMessage[]): Required<Happened> => {
  const shape = new ShapeSoFar()
  for (const { role, parts } of messages)
    shape.add({ isOfUser: role === 'user', hasText: false, facts: factsIn(parts.map((part) => factOf(part, ''))) })
  const { prompts, calls, failed } = shape.shape()
  const errors = messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'error').length
  return { prompts, calls, failed, errors }
}

const inOrder = (counts: readonly Required<Happened>[]): readonly string[] =>
  counts.map(({ prompts, calls, failed, errors }) => JSON.stringify({ prompts, calls, failed, errors })).sort()

/** What the provider has told of the answers in the sessions of a folder. */
const usageIn = (folder: string): Usage =>
  (JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as { usage: { answersInSession: Usage } }).usage
    .answersInSession

/**
 * Where what the provider has told of the answers is not what the messages have: Qwen Code asks it for something that is no message there; the
 * summary of a compaction and the answer after it are messages of opencode, and count.
 */
const BESIDE = ['qwen/plain', 'qwen/resume', 'opencode/compact']

/** What an agent does not store of what it was told. */
const NOT_STORED: Readonly<Record<string, readonly string[]>> = { pi: ['reasoningTokens'] }

/** The sums of all messages; several with one id of the provider's count once. */
const sumsOf = (messages: readonly SessionMessage[], names: readonly string[]): object => {
  const counted = new Map(messages.flatMap(({ usage }, i) => (usage ? [[usage.responseId ?? i, usage]] : [])))
  return Object.fromEntries(
    names.map((name) => [
      name,
      counted.values().reduce((sum, usage) => sum + Number(usage[name as keyof Usage] ?? 0), 0),
    ]),
  )
}

const programs = sessionsOfPrograms()
if (programs === undefined) test.skip('no sessions of the real programs beside the repository')

for (const expected of programs === undefined ? [] : globSync('*/*/expected.json', { cwd: programs }).sort()) {
  const situation = dirname(expected)
  const folder = join(programs!, situation)
  const home = join(folder, 'home')
  if (!existsSync(home)) continue

  test(`${situation}: prompts, calls, failed calls and errors are those that happened`, async () => {
    const files = await findSessionFiles(agents, [], { env: {}, home }, (path, message) => {
      throw new Error(`${path}: ${message}`)
    })
    const read = (await Promise.all(files.map(({ path, agent }) => readSessions(path, agent)))).flat()
    assert.equal(
      inOrder(read.map(({ messages }) => countsOf(messages))),
      inOrder(happenedIn(folder).map((one) => ({ errors: 0, ...one }))),
    )
    const calls = read.flatMap(({ session, messages }) =>
      messages.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'tool_call' ? `${session.externalId} ${part.content.callId}` : [])),
      ),
    )
    const names = BESIDE.includes(situation)
      ? []
      : Object.keys(usageIn(folder)).filter((name) => !NOT_STORED[dirname(situation)]?.includes(name))
    const sums = sumsOf(
      read.flatMap(({ messages }) => messages),
      names,
    )
    assert.equal(sums, Object.fromEntries(Object.entries(usageIn(folder)).filter(([name]) => names.includes(name))))
    for (const { session } of read) {
      const { parentExternalId, parentCallId } = session.trace
      if (parentExternalId !== undefined)
        assert.ok(calls.includes(`${parentExternalId} ${parentCallId}`), `the call of ${session.externalId}`)
      assert.is(session.leftOut, undefined, 'every kind is known')
      assert.ok(session.trace.title, 'a session has a title')
      assert.not.match(session.trace.title!, /^(?:<|\/|\[image)/)
    }
  })
}

test.run()
