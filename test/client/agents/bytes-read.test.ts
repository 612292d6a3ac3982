import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { codex } from '../../../src/client/agents/codex/index.ts'
import * as rollout from '../support/codex-file.ts'
import { readFrom } from '../support/added-lines.ts'
import { readSession } from '../support/read-session.ts'
import { answerLine, call, result, text, userLine, writeSession } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('how much of a grown session is read')
const { path: folder, remove } = tempFolder()
test.after(remove)

const COUNTERS = '/proc/self/io'
if (!existsSync(COUNTERS)) test.skip('this system does not count the bytes that a process reads')

const bytesRead = (): number => Number(/^rchar: (\d+)/.exec(readFileSync(COUNTERS, 'utf8'))![1])

type Grown = { readonly agent: Agent; readonly name: string; readonly turn: (index: number) => readonly string[] }

const output = 'x'.repeat(2_000)

const grown: readonly Grown[] = [
  {
    agent: claudeCode,
    name: 's-1.jsonl',
    turn: (index) => [
      userLine(`u-${index}`, `prompt ${index}`),
      answerLine(`a-${index}`, `m-${index}`, [text('on'), call(`t-${index}`, 'Bash')]),
      userLine(`r-${index}`, [result(`t-${index}`, output)]),
    ],
  },
  {
    agent: codex,
    name: 'rollout-s.jsonl',
    turn: (index) => [
      ...(index === 0 ? [rollout.meta('s-1')] : []),
      rollout.prompt(`prompt ${index}`),
      rollout.call({ call_id: `c-${index}` }),
      rollout.output(output, { call_id: `c-${index}` }),
    ],
  },
]

for (const { agent, name, turn } of grown)
  test(`${agent.name}: adding a line, or nothing, to a 12 MB file causes all of it to be read once, to be compared, and only what was added to be parsed`, async () => {
    const path = writeSession(folder, name, Array.from({ length: 4_000 }, (_, index) => turn(index)).flat())
    let { live } = await readFrom(agent, path)
    for (const added of ['', ...turn(4_000), ...turn(4_001)]) {
      appendFileSync(path, added && `${added}\n`)
      const before = bytesRead()
      const later = await readFrom(agent, path, live)
      const read = bytesRead() - before
      assert.ok(later.isContinued)
      assert.ok(read < statSync(path).size + 256_000, `${read} bytes were read`)
      assert.ok(later.messages.size < 20, `${later.messages.size} messages were given`)
      live = later.live
    }
  })

for (const { agent, name, turn } of grown)
  test(`${agent.name}: a session of 500 kB is read from disk once, though its lines are processed twice`, async () => {
    const lines = Array.from({ length: 170 }, (_, index) => turn(index)).flat()
    const size = lines.reduce((sum, line) => sum + line.length + 1, 0)
    const path = writeSession(folder, `once-${name}`, lines)
    const before = bytesRead()
    const { messages } = await readSession(path, agent)
    const read = bytesRead() - before
    assert.ok(messages.length >= 340, `${messages.length} messages were given`)
    // Codex looks at the beginning of a file before: at most one chunk.
    assert.ok(read < size * 1.8, `${read} of ${size} bytes were read`)
  })

test.run()
