import { globSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/client/agents/index.ts'
import { findSessionFiles } from '../../../src/client/agents/session-files.ts'
import { firstBytes } from '../../../src/client/agents/support/chunks.ts'
import * as qwen from '../support/qwen-file.ts'
import { sharedData } from '../support/shared-data.ts'

const test = suite('recognising the agent of a file')
const folderOfData = sharedData()
const data = folderOfData && realpathSync(folderOfData)

const endsLike = (path: string, extensions: readonly string[]): boolean =>
  extensions.some((extension) => path.endsWith(extension))

/** The agents that recognise a file. */
const recognisedBy = (path: string, beginning: string): readonly string[] =>
  agents
    .filter(({ extensions, recognises }) => endsLike(path, extensions) && recognises(path, beginning))
    .map(({ id }) => id)

/** Files that hold parts of a session, which is read from another one. */
const isPart = (path: string): boolean =>
  /[\\/]opencode[\\/].*[\\/](?:message|part)[\\/]/.test(path) || path.endsWith('meta.json')

/** The agent whose recorded sessions a folder holds: the folder has its id, or the beginning of that. */
const ownerOf = (folder: string) => {
  const name = basename(folder)
  return agents.find(({ id }) => id === name || id.startsWith(`${name}-`))!
}

for (const folder of data ? globSync(['claude-code', 'agents/*'], { cwd: data }) : []) {
  const owner = ownerOf(folder)
  const files = globSync(`${folder}/**/*`, { cwd: data!, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
  const sessions = files.filter((file) => endsLike(file, owner.extensions) && !isPart(file))

  test(`in ${folder}, each session file is recognised only by ${owner.name}, and other files by no agent`, async () => {
    for (const file of files) {
      const beginning = (await firstBytes(file, 1 << 16)).toString('utf8')
      const expected = sessions.includes(file) ? [owner.id] : []
      assert.equal(recognisedBy(file, beginning), expected, file)
    }
  })

  test(`in ${folder}, each session file is found as a session of ${owner.name}`, async () => {
    const found = await findSessionFiles(agents, [join(data!, folder)], { env: {}, home: '/none' }, assert.unreachable)
    assert.equal(
      found.map(({ path, agent }) => `${agent.id} ${path}`).sort(),
      sessions.map((path) => `${owner.id} ${path}`).sort(),
    )
  })
}

const sqlite = 'SQLite format 3\0 '
const tables = (...names: readonly string[]) => names.map((name) => `CREATE TABLE \`${name}\` (id text)`).join(' ')
const inStorage = '/x/storage/session/p/ses_1.json'

const beginnings: readonly (readonly [string, string, readonly string[]])[] = [
  ['/x/a.jsonl', '{"sessionId":"s","projectHash":"h"}\n{"id":"m"}', ['gemini-cli']],
  ['/x/a.jsonl', '{"sessionId":"s"}\n{"projectHash":"h"}', []],
  ['/x/a.jsonl', '{"type":"user","message":{"content":"{\\"sessionId\\":\\"s\\",\\"projectHash\\":\\"h\\"}"}}', []],
  ['/x/a.jsonl', '{"type":"user","uuid":"u","message":{"content":"hello"}}', ['claude-code']],
  ['/x/a.jsonl', '{"type":"summary","summary":"A title","leafUuid":"u"}', ['claude-code']],
  [
    '/x/a.jsonl',
    '{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"conte',
    ['claude-code'],
  ],
  ['/x/a.jsonl', '{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","parts":[{"text":"x"}]}}', []],
  ['/x/a.jsonl', qwen.typed('u', null, 'x'), ['qwen-code']],
  ['/x/a.jsonl', qwen.typed('u', 'p', 'x'.repeat(100)).slice(0, -20), ['qwen-code']],
  ['/x/a.jsonl', '{"type":"message","sessionId":"s","message":{"role":"user","content":"x"}}', []],
  ['/x/a.jsonl', '{"prompt":"x"}\n{"completion":"y"}', []],
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
  ['/x/store.db', `${sqlite}${tables('blobs', 'meta')}`, ['cursor']],
  ['/x/store.db', `${sqlite}${tables('blobs')}`, []],
  ['/x/store.db', tables('blobs', 'meta'), []],
]
for (const [path, beginning, expected] of beginnings)
  test(`${path} that begins with ${JSON.stringify(beginning)} is recognised by ${expected.join() || 'none'}`, () => {
    assert.equal(recognisedBy(path, beginning), expected)
  })

test.run()
