import { globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/sync/agents/index.ts'
import { sharedData } from '../support/shared-data.ts'

const test = suite('recognising the agent of a file')
const data = sharedData()

if (!data) test.skip('no recorded sessions beside the repository')

/** The last one takes what is left. */
const strict = agents.slice(0, -1)

/** Files that hold parts of a session, which is read from another one. */
const isPart = (file: string): boolean =>
  /^agents\/opencode\/.*\/(?:message|part)\//.test(file) || /meta\.json$/.test(file)

/** The agents by whose name `agents/<folder>` begins. */
const ownersOf = (file: string): readonly string[] => {
  const folder = file.split(sep)[1] ?? ''
  return isPart(file) ? [] : strict.map(({ id }) => id).filter((id) => id.startsWith(folder))
}

for (const file of data ? globSync('{claude-code,agents}/**/*.{json,jsonl}', { cwd: data }) : [])
  test(`${file} is recognised by its own agent alone`, () => {
    const path = join(data!, file)
    const beginning = readFileSync(path).toString('utf8', 0, 1 << 16)
    const found = strict.filter(
      ({ extensions, recognises }) =>
        extensions.some((extension) => file.endsWith(extension)) && recognises(path, beginning),
    )
    assert.equal(
      found.map(({ id }) => id),
      ownersOf(file),
    )
  })

const sqlite = 'SQLite format 3\0 '
const tables = (...names: readonly string[]) => names.map((name) => `CREATE TABLE \`${name}\` (id text)`).join(' ')
const inStorage = '/x/storage/session/p/ses_1.json'

const beginnings: readonly (readonly [string, string, readonly string[]])[] = [
  ['/x/a.jsonl', '{"sessionId":"s","projectHash":"h"}\n{"id":"m"}', ['gemini-cli']],
  ['/x/a.jsonl', '{"sessionId":"s"}\n{"projectHash":"h"}', []],
  ['/x/a.jsonl', '{"type":"user","message":{"content":"{\\"sessionId\\":\\"s\\",\\"projectHash\\":\\"h\\"}"}}', []],
  ['/x/a.json', '{"name":"package","version":"1.0.0"}', []],
  ['/x/a.json', '[]', []],
  ['/x/a.json', '', []],
  ['/x/opencode.db', sqlite, ['opencode']],
  ['/x/opencode-dev.db', sqlite, ['opencode']],
  ['/x/opencode.db', 'text', []],
  ['/x/mine.db', sqlite + tables('project', 'session', 'message', 'part'), ['opencode']],
  ['/x/mine.db', sqlite + tables('message', 'users'), []],
  [inStorage, '{"id":"ses_1","projectID":"p","directory":"/w"}', ['opencode']],
  ['/x/storage/message/s/msg_1.json', '{"id":"msg_1","projectID":"p","directory":"/w"}', []],
  [inStorage, '{"id":"x"}', []],
  ['/x/a.jsonl', '{"role":"user","message":{"content":[]}}', ['cursor']],
  ['/x/a.jsonl', '{"type":"user","message":{"role":"user","content":"{\\"role\\":\\"user\\",\\"message\\":1}"}}', []],
  ['/x/agent-transcripts/a/a.jsonl', '{"type":"turn_ended"}', ['cursor']],
  ['/x/agent-transcripts/a.txt', 'user:\nHello', ['cursor']],
  ['/x/a.txt', 'user:\nHello', []],
  ['/x/state.vscdb', `${sqlite}CREATE TABLE cursorDiskKV (key TEXT)`, ['cursor']],
  ['/x/state.vscdb', `${sqlite}CREATE TABLE ItemTable (key TEXT)`, []],
]
for (const [path, beginning, expected] of beginnings)
  test(`${path} that begins with ${JSON.stringify(beginning)} is recognised by ${expected.join() || 'none'}`, () => {
    const found = strict.filter(
      ({ extensions, recognises }) =>
        extensions.some((extension) => path.endsWith(extension)) && recognises(path, beginning),
    )
    assert.equal(
      found.map(({ id }) => id),
      expected,
    )
  })

test.run()
