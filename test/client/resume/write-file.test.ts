import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SessionMessage } from '../../../src/client/agents/agent.ts'
import { newTally } from '../../../src/client/agents/support/tally.ts'
import type { Written, WrittenSession } from '../../../src/client/agents/support/writer.ts'
import { type Target, targets } from '../../../src/client/resume/targets.ts'
import { writeSessionFile } from '../../../src/client/resume/write-file.ts'

const test = suite('the file of a session that is written anew')

const root = mkdtempSync(join(tmpdir(), 'write-file-'))
test.after(() => rmSync(root, { recursive: true }))

const [claudeCode] = targets as readonly [Target, Target]

const MESSAGES: readonly SessionMessage[] = [
  { externalId: 'p', role: 'user', order: 0, parts: [{ type: 'text', content: { text: 'go' } }] },
  { externalId: 'a', role: 'assistant', order: 1, parts: [{ type: 'text', content: { text: 'done' } }] },
]

let number = 0
/** Writes a session below a folder of its own; `change` is what becomes of its lines on the way. */
const writing = (change: (written: Written) => Written = (written) => written, { isStopped = false } = {}) => {
  const home = join(root, String(++number))
  const session: WrittenSession = { id: claudeCode.newId(), directory: '/work', version: '1.2.3', at: 1, isOwn: true }
  const path = join(home, 'projects', '-work', `${session.id}.jsonl`)
  const noted: string[] = []
  const stop = new AbortController()
  const record = {
    note: async () => void noted.push(existsSync(path) ? 'note, too late' : 'note'),
    forget: async () => void noted.push('forget'),
  }
  async function* written() {
    for await (const one of claudeCode.write(session, MESSAGES, newTally())) yield change(one)
    if (isStopped) stop.abort()
  }
  const { signal } = stop
  const write = () => writeSessionFile(path, { target: claudeCode, session, written: written(), signal, record })
  return { home, path, noted, write }
}

const failure = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(() => undefined).catch((reason: Error) => reason)
  return error?.message ?? 'nothing has failed'
}

test('it appears once it is complete and recorded, beside nothing', async () => {
  const { path, noted, write } = writing()
  await write()
  assert.equal(noted, ['note'])
  assert.equal(readdirSync(dirname(path)), [path.split('/').at(-1)])
  assert.is(readFileSync(path, 'utf8').trim().split('\n').length, 2)
})

test('stopped when all is written, it does not appear, and nothing is left behind', async () => {
  const { home, noted, write } = writing(undefined, { isStopped: true })
  assert.match(await failure(write()), 'aborted')
  assert.equal([noted, existsSync(home)], [[], false])
})

test('it never takes the place of another file, and leaves nothing behind', async () => {
  const { path, noted, write } = writing()
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'mine')
  assert.match(await failure(write()), 'EEXIST')
  assert.equal([readFileSync(path, 'utf8'), readdirSync(dirname(path)).length, noted.at(-1)], ['mine', 1, 'forget'])
})

for (const [what, change, said] of [
  [
    'a line that is no JSON',
    (one: Written) => ({ ...one, lines: one.lines.map((line) => line.slice(1)) }),
    /follow|JSON|session/,
  ],
  [
    'a text that is read otherwise',
    (one: Written) => ({ ...one, lines: one.lines.map((line) => line.replace('done', 'gone')) }),
    /message a differs/,
  ],
  [
    'a line that is missing',
    (one: Written) => ({ ...one, lines: one.said.role === 'user' ? one.lines : [] }),
    /1 of 2 parts/,
  ],
  [
    'a gap in the chain',
    (one: Written) => ({
      ...one,
      lines: one.lines.map((line) => line.replace(/"parentUuid":"[^"]+"/, '"parentUuid":"x"')),
    }),
    /line 2 does not follow/,
  ],
  [
    'another folder',
    (one: Written) => ({ ...one, lines: one.lines.map((line) => line.replace('/work', '/other')) }),
    /of \/other/,
  ],
] as const)
  test(`${what} is found before the file appears, and nothing is left`, async () => {
    const { home, noted, write } = writing(change)
    assert.match(await failure(write()), said)
    assert.equal([existsSync(home), noted], [false, []])
  })

test('folders that were there stay', async () => {
  const { home, path, write } = writing((one) => ({ ...one, lines: [] }))
  mkdirSync(join(home, 'projects'), { recursive: true })
  await failure(write())
  assert.equal([existsSync(join(home, 'projects')), existsSync(dirname(path))], [true, false])
})

test.run()
