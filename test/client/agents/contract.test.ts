import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent, SessionMessage, StoredSession } from '../../../src/client/agents/agent.ts'
import { agents } from '../../../src/client/agents/index.ts'
import { isExternalId } from '../../../src/client/agents/support/external-ids.ts'
import { inParts, readFrom } from '../support/added-lines.ts'
import { answerLine, text, userLine } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'
import { answer, metadata, typed } from './gemini-cli/records.ts'
import * as qwen from '../support/qwen-file.ts'
import { runs } from '../../support/runs.ts'

const test = suite('every agent')
const { path: folder, remove } = tempFolder()
test.after(remove)

/** A session file of an agent: lines before its messages, and lines each of which is a message. */
type Sample = { readonly name: string; readonly head: readonly string[]; readonly lines: readonly string[] }

const json = (...lines: readonly object[]): string[] => lines.map((line) => JSON.stringify(line))
const timestamp = '2026-02-01T10:00:00.000Z'
const codex = (id: string, role: string, type: string) => ({
  timestamp,
  type: 'response_item',
  payload: { type: 'message', id, role, content: [{ type, text: `said ${id}` }] },
})
const cursor = (role: string, value: string) => ({ role, message: { content: [text(value)] } })
const copilot = (id: string, type: string, data: object) => ({ type, id, timestamp, data })

/**
 * One for each agent that writes lines. Undefined for opencode: it keeps sessions in a database, or formerly in a file for each
 * message, so that there are no lines to mix. A new agent needs one.
 */
const samples: Readonly<Record<string, Sample | undefined>> = {
  'claude-code': {
    name: 's.jsonl',
    head: [],
    lines: [userLine('u-1', 'hello'), answerLine('a-1', 'm-1', [text('hi')]), userLine('u-2', 'hello')],
  },
  codex: {
    name: 'rollout-2026-02-01T10-00-00-0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b.jsonl',
    head: json({
      timestamp,
      type: 'session_meta',
      payload: { id: '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b', cwd: '/w/app' },
    }),
    lines: json(
      codex('i-1', 'user', 'input_text'),
      codex('i-2', 'assistant', 'output_text'),
      codex('i-3', 'user', 'input_text'),
    ),
  },
  pi: {
    name: '2026-02-01T10-00-00-000Z_0192f0c1.jsonl',
    head: json({ type: 'session', version: 1, id: '0192f0c1', timestamp, cwd: '/w/app' }),
    lines: json(
      { type: 'message', id: 'e-1', timestamp, message: { role: 'user', content: [{ type: 'text', text: 'hello' }] } },
      { type: 'message', id: 'e-2', timestamp, message: { role: 'user', content: [{ type: 'text', text: 'again' }] } },
    ),
  },
  'copilot-cli': {
    name: join('session-state', '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b', 'events.jsonl'),
    head: json(copilot('e-0', 'session.start', { sessionId: '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b' })),
    lines: json(
      copilot('e-1', 'user.message', { content: 'hello' }),
      copilot('e-2', 'assistant.message', { messageId: 'm-1', content: 'hi', toolRequests: [] }),
    ),
  },
  'gemini-cli': {
    name: join('chats', 'session-2026-02-01T10-00-0192f0c1.jsonl'),
    head: [metadata({ sessionId: '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b' })],
    lines: [typed('m-1', 'hello'), answer('m-2', 'hi'), typed('m-3', 'hello')],
  },
  'qwen-code': {
    name: join('chats', '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b.jsonl'),
    head: [qwen.system('s-1', null, 'session_model', {})],
    lines: [
      qwen.typed('u-1', 's-1', 'hello'),
      qwen.answer('a-1', 'u-1', [qwen.text('hi')]),
      qwen.typed('u-2', 'a-1', 'again'),
    ],
  },
  opencode: undefined,
  cursor: {
    name: join('agent-transcripts', '0192f0c1', '0192f0c1.jsonl'),
    head: [],
    lines: json(cursor('user', 'hello'), cursor('assistant', 'hi'), cursor('user', 'again')),
  },
}

const write = (name: string, lines: readonly string[]) => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

const storedIn = async (agent: Agent, path: string): Promise<StoredSession> => {
  const [stored] = await Array.fromAsync(agent.sessions(path))
  return stored!
}
const read = async (stored: StoredSession) => {
  const damaged: (readonly [number, number | undefined])[] = []
  const session = await stored.read({ onMalformed: (line, lost) => void damaged.push([line, lost]) })
  return { session, damaged, messages: await Array.fromAsync(session.messages()) }
}

test('each agent has samples for these tests, unless its sessions are not lines', () => {
  for (const { id } of agents) assert.ok(id in samples, id)
})

for (const agent of agents) {
  const sample = samples[agent.id]
  if (!sample) continue
  const { name, head, lines } = sample

  test(`${agent.name}: each line of its sample gives one message`, async () => {
    const { session, messages } = await read(await storedIn(agent, write(name, [...head, ...lines])))
    assert.is(session.trace.agentId, agent.id)
    assert.is(messages.length, lines.length)
  })

  const whole = fc.constantFrom(...head, ...lines)
  /** The beginning of a line, and another one on the same line. */
  const spliced = fc.tuple(whole, fc.nat(), whole).map(([one, cut, two]) => one.slice(0, cut % (one.length + 1)) + two)
  const mixed = fc.array(fc.oneof(whole, spliced, fc.json(), fc.string()), { maxLength: 12 })

  test(`${agent.name}: for any content, ids are valid and distinct, and lines appended during a read are left for the next one`, () =>
    fc.assert(
      fc.asyncProperty(mixed, mixed, async (some, more) => {
        const path = write(name, some)
        const before = await read(await storedIn(agent, path))
        const ids = before.messages.map(({ externalId }) => externalId)
        assert.ok(isExternalId(before.session.externalId), before.session.externalId)
        for (const id of ids) assert.ok(isExternalId(id), id)
        assert.is(new Set(ids).size, ids.length)
        const stored = await storedIn(agent, path)
        appendFileSync(path, more.map((line) => `${line}\n`).join(''))
        assert.equal((await read(stored)).messages, before.messages)
      }),
      { numRuns: runs(25) },
    ))

  test(`${agent.name}: for any content and any cut, reading in two parts gives the same messages as reading the whole`, () =>
    fc.assert(
      fc.asyncProperty(mixed, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), async (some, numbers) => {
        const content = Buffer.from([...head, ...some].map((line) => `${line}\n`).join(''))
        const cuts = numbers.map((number) => number % (content.length + 1)).sort((a, b) => a - b)
        const { assertSame } = await inParts(agent, write(name, []), content)
        await assertSame(...cuts)
      }),
      { numRuns: runs(12) },
    ))

  test(`${agent.name}: only the end of a grown session is read again`, async () => {
    const path = write(name, [...head, ...lines])
    const { live } = await readFrom(agent, path)
    appendFileSync(path, `${JSON.stringify({ type: 'unknown' })}\n`)
    const { isContinued, messages } = await readFrom(agent, path, live)
    assert.ok(isContinued)
    assert.ok(messages.size < lines.length, `${messages.size} of ${lines.length} messages`)
  })

  test(`${agent.name}: a session that changed before its end is read whole`, async () => {
    const content = [...head, ...lines].map((line) => `${line}\n`).join('')
    for (const other of [content.slice(1), ` ${content}`, '', content.slice(0, 20), content.replace('e', 'E')]) {
      const path = write(name, [...head, ...lines])
      const { live } = await readFrom(agent, path)
      writeFileSync(path, other)
      const whole = await readFrom(agent, path)
      const later = await readFrom(agent, path, live)
      assert.not(later.isContinued)
      assert.equal(later.messages, whole.messages)
    }
  })

  test(`${agent.name}: an edit in place that keeps the length is noticed, even if the session also grows`, async () => {
    const between = Array.from({ length: 20_000 }, (_, index) => JSON.stringify({ type: 'unknown', index }))
    const path = write(name, [...head, ...between, ...lines, ...between])
    const { live } = await readFrom(agent, path)
    const content = readFileSync(path, 'utf8')
    const at = content.search(/hello|said/)
    writeFileSync(path, `${content.slice(0, at)}SPOK${content.slice(at + 4)}${lines.at(-1)!}\n`)
    const whole = await readFrom(agent, path)
    const later = await readFrom(agent, path, live)
    assert.not(later.isContinued)
    assert.equal(later.messages, whole.messages)
    assert.ok([...later.messages.values()].some((message) => JSON.stringify(message).includes('SPOK')))
  })

  test(`${agent.name}: of a damaged line only what is damaged is lost, and that is told in bytes`, async () => {
    const [one = '', two = '', ...more] = lines
    const shown = ({ messages }: { readonly messages: readonly SessionMessage[] }) =>
      messages.map(({ externalId, parts }) => JSON.stringify([externalId, parts]))
    const all = await read(await storedIn(agent, write(name, [...head, one, two, ...more])))
    const without = await read(await storedIn(agent, write(name, [...head, two, ...more])))
    const line = head.length + 1
    const readWith = async (damaged: string) => read(await storedIn(agent, write(name, [...head, damaged, ...more])))
    const joined = await readWith(one + two)
    assert.equal([joined.messages, joined.damaged], [all.messages, []])
    for (const cut of [1, one.length >> 1, one.length - 1]) {
      const found = await readWith(one.slice(0, cut) + two)
      assert.equal([shown(found), found.damaged], [shown(without), [[line, cut]]], `cut at ${cut}`)
    }
    const amid = await readWith(`\0\0${one}, ${two}]`)
    assert.equal([amid.messages, amid.damaged], [all.messages, [[line, 4]]])
  })

  test(`${agent.name}: removing a line does not change the ids of other messages`, async () => {
    const all = await read(await storedIn(agent, write(name, [...head, ...lines])))
    const less = await read(await storedIn(agent, write(name, [...head, ...lines.slice(1)])))
    assert.is(less.messages.length, lines.length - 1)
    for (const { externalId, parts } of less.messages)
      assert.equal(parts, all.messages.find((one) => one.externalId === externalId)?.parts, externalId)
  })
}

test.run()
