import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/sync/agents/agent.ts'
import { agents } from '../../../src/sync/agents/index.ts'
import { isExternalId } from '../../../src/sync/agents/external-ids.ts'
import { answerLine, text, userLine } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('every agent')
const { path: folder, remove } = tempFolder()
test.after(remove)

/** Lines of a session file, by the id of its agent: each is a message. A new agent needs some. */
const samples: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [userLine('u-1', 'hello'), answerLine('a-1', 'm-1', [text('hi')]), userLine('u-2', 'hello')],
}

const read = async (agent: Agent, path: string, size = statSync(path).size) => {
  const session = await agent.readSession(path, { size, onMalformed: () => {} })
  return { session, messages: await Array.fromAsync(session.messages()) }
}

const write = (name: string, lines: readonly string[]) => {
  const path = join(folder, name)
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

for (const agent of agents) {
  const sample = samples[agent.id]
  test(`${agent.id}: its sample is read, a message a line`, async () => {
    assert.ok(sample)
    const { session, messages } = await read(agent, write('s.jsonl', sample!))
    assert.is(session.trace.agentId, agent.id)
    assert.is(messages.length, sample!.length)
  })

  const mixed = fc.array(fc.oneof(fc.constantFrom(...(sample ?? [''])), fc.json(), fc.string()), { maxLength: 12 })

  test(`${agent.id}: whatever a file holds, ids are usable and distinct, and stay when lines are added`, () =>
    fc.assert(
      fc.asyncProperty(mixed, mixed, fc.constantFrom('s', '..', 'ä b'), async (lines, more, name) => {
        const path = write(`${name}.jsonl`, lines)
        const size = statSync(path).size
        const before = await read(agent, path)
        const ids = before.messages.map(({ externalId }) => externalId)
        assert.ok(isExternalId(before.session.externalId), before.session.externalId)
        for (const id of ids) assert.ok(isExternalId(id), id)
        assert.is(new Set(ids).size, ids.length)
        writeFileSync(path, `${readFileSync(path, 'utf8')}${more.join('\n')}\n`)
        assert.equal((await read(agent, path, size)).messages, before.messages)
      }),
      { numRuns: 100 },
    ))

  test(`${agent.id}: a line that goes away takes no other message's id`, async () => {
    const all = await read(agent, write('s.jsonl', sample!))
    const less = await read(agent, write('s.jsonl', sample!.slice(1)))
    const ids = new Set(all.messages.map(({ externalId }) => externalId))
    for (const { externalId, parts } of less.messages) {
      assert.ok(ids.has(externalId), externalId)
      assert.equal(parts, all.messages.find((one) => one.externalId === externalId)!.parts)
    }
  })
}

test.run()
