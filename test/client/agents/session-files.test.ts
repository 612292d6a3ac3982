import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { findSessionFiles, type Linked } from '../../../src/client/agents/session-files.ts'
import { userLine } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('finding session files')
const { path, remove } = tempFolder()
test.after(remove)

const [root, below, beside] = [
  join(path, 'projects'),
  join(path, 'projects', '-w', 's', 'subagents'),
  join(path, 'beside'),
]
for (const folder of [below, beside]) mkdirSync(folder, { recursive: true })
for (const file of [join(root, '-w', 's.jsonl'), join(below, 'agent-1.jsonl'), join(below, 'agent-1.meta.json')])
  writeFileSync(file, userLine('u-1', 'hello'))
writeFileSync(join(beside, 'notes.txt'), '')

/** An agent with folders of its own. */
const agentIn = (...folders: readonly string[]): Agent => ({ ...claudeCode, roots: () => folders })
const home = { env: {}, home: path }

const find = async (paths: readonly string[], roots: readonly string[] = []) =>
  (await findSessionFiles([agentIn(...roots)], paths, home, () => {})).map((file) => file.path.slice(path.length + 1))

test('a folder and all its subfolders are searched, for session files only', async () => {
  assert.equal(await find([root]), ['projects/-w/s.jsonl', 'projects/-w/s/subagents/agent-1.jsonl'])
  assert.equal(await find([], [root]), await find([root]))
})

test('each file is listed once, even if it is named several times or in different ways', async () => {
  const link = join(beside, 'link.jsonl')
  symlinkSync(join(root, '-w', 's.jsonl'), link)
  assert.equal((await find([root, below, join(root, '-w', '..', '-w', 's.jsonl'), link])).length, 2)
})

test('links in a searched folder are not followed, be they external, circular or broken', async () => {
  const folder = join(path, 'linked')
  const outside = join(path, 'outside')
  for (const one of [folder, outside]) mkdirSync(one)
  for (const file of [join(folder, 'mine.jsonl'), join(outside, 'secret.jsonl'), join(outside, 'key')])
    writeFileSync(file, userLine('u-1', 'hello'))
  symlinkSync(join(outside, 'secret.jsonl'), join(folder, 'a-file.jsonl'))
  symlinkSync(join(outside, 'key'), join(folder, 'another-name.jsonl'))
  symlinkSync(outside, join(folder, 'a-folder'))
  symlinkSync('..', join(folder, 'up'))
  symlinkSync('.', join(folder, 'round'))
  symlinkSync('none.jsonl', join(folder, 'dangling.jsonl'))
  symlinkSync('itself.jsonl', join(folder, 'itself.jsonl'))
  symlinkSync('mine.jsonl', join(folder, 'inside.jsonl'))
  assert.equal(await find([folder]), ['linked/mine.jsonl'])
  assert.equal(await find([], [folder]), ['linked/mine.jsonl'])
})

test('a linked folder is named, unless it leads to what is searched anyway, or is not searched', async () => {
  const [folder, outside] = [join(path, 'projects-2'), join(path, 'shared')]
  for (const one of [join(folder, '-w'), outside]) mkdirSync(one, { recursive: true })
  for (const [name, target] of [
    ['-linked', outside],
    ['up', '..'],
    ['round', '.'],
    ['inside', '-w'],
    ['memory', outside],
    ['dangling', 'none'],
  ] as const)
    symlinkSync(target, join(folder, name))
  const agent: Agent = { ...agentIn(folder), skipsFolder: (below) => below === 'memory' }
  const linked = async (paths: readonly string[]) => {
    const told: (readonly [string, string | undefined])[] = []
    const onLink = ({ path: link, kind }: Linked, of: Agent | undefined) => {
      assert.is(kind, 'folder')
      told.push([link, of?.id])
    }
    await findSessionFiles([agent], paths, home, assert.unreachable, { onLink })
    return told.sort()
  }
  const link = join(folder, '-linked')
  assert.equal(await linked([]), [[link, 'claude-code']])
  assert.equal(await linked([folder]), [
    [link, undefined],
    [join(folder, 'memory'), undefined],
  ])
  assert.equal(await linked([folder, outside]), [])
})

test('a linked file is named, if it is one of a session, and is not found where it is', async () => {
  const [folder, outside] = [join(path, 'projects-3'), join(path, 'linked-files')]
  for (const one of [join(folder, '-w'), outside]) mkdirSync(one, { recursive: true })
  const line = '{"type":"user","uuid":"u-1","sessionId":"s-1","message":{"role":"user","content":"Hello"}}\n'
  for (const file of [join(outside, 'mine.jsonl'), join(folder, '-w', 's.jsonl')]) writeFileSync(file, line)
  writeFileSync(join(outside, 'notes.txt'), 'Notes')
  writeFileSync(join(outside, 'other.jsonl'), '{"a":1}\n')
  for (const [name, target] of [
    ['mine.jsonl', join(outside, 'mine.jsonl')],
    ['notes.txt', join(outside, 'notes.txt')],
    ['inside.jsonl', '-w/s.jsonl'],
    ['dangling.jsonl', 'none'],
    ['itself.jsonl', 'itself.jsonl'],
  ] as const)
    symlinkSync(target, join(folder, name))
  const linked = async (paths: readonly string[]) => {
    const told: Linked[] = []
    const onLink = (link: Linked) => told.push(link)
    await findSessionFiles([agentIn(paths.length === 0 ? folder : root)], paths, home, assert.unreachable, { onLink })
    return told.map(({ path: link, kind }) => `${kind} ${link.slice(folder.length + 1)}`).sort()
  }
  assert.equal(await linked([]), ['file mine.jsonl'])
  // Outside of the agents' own folders a file is known by its content.
  symlinkSync(join(outside, 'other.jsonl'), join(folder, 'other.jsonl'))
  assert.equal(await linked([folder]), ['file mine.jsonl'])
  assert.equal(await linked([folder, outside]), [])
})

test('a link that is named itself, or that is the default folder, is followed', async () => {
  const link = join(path, 'linked-root')
  symlinkSync(below, link)
  const found = ['projects/-w/s/subagents/agent-1.jsonl']
  assert.equal(await find([link]), found)
  assert.equal(await find([], [link]), found)
})

test('a named file that belongs to no agent is reported', async () => {
  const told: string[] = []
  const found = await findSessionFiles([agentIn(root)], [join(beside, 'notes.txt')], home, (...problem) =>
    told.push(problem.join(': ')),
  )
  assert.equal(found, [])
  assert.equal(told, [`${join(beside, 'notes.txt')}: notes.txt is not a session file of a known agent`])
})

const refusal = async (path: string): Promise<string> => {
  const error: unknown = await find([path]).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.is((error as Error).name, 'UsageError')
  return (error as Error).message
}

test('a missing default folder has no sessions; a missing path on the command line is wrong usage', async () => {
  const none = join(path, 'none')
  assert.equal(await findSessionFiles([agentIn(none)], [], home, assert.unreachable), [])
  assert.match(await refusal(none), /none: no such file or folder/)
})

/** Files of two agents that end alike, one of them to be told by how it begins. */
const rollout: Agent = {
  ...claudeCode,
  id: 'rollout',
  roots: () => [join(path, 'rollouts')],
  isSessionFile: (file) => file.includes('rollout-'),
  recognises: (_file, beginning) => beginning.startsWith('{"rollout"'),
  readWith: (file, files) => [`${file}.newer.jsonl`].find((other) => files.has(other)),
}
const agentsOf = async (...paths: readonly string[]) =>
  (await findSessionFiles([rollout, agentIn(root)], paths, home, assert.unreachable)).map(
    (file) => `${file.agent.id} ${file.path.slice(path.length + 1)}`,
  )

test('a file belongs to the agent whose folder holds it, else to the first agent that recognises it', async () => {
  const [rollouts, elsewhere] = [join(path, 'rollouts'), join(path, 'elsewhere')]
  for (const folder of [rollouts, elsewhere]) mkdirSync(folder)
  writeFileSync(join(rollouts, 'rollout-1.jsonl'), 'anything')
  writeFileSync(join(rollouts, 'index.jsonl'), '{"rollout"')
  writeFileSync(join(elsewhere, 'a.jsonl'), '{"rollout":1}')
  writeFileSync(join(elsewhere, 'b.jsonl'), userLine('u-1', 'hello'))
  writeFileSync(join(elsewhere, 'd.jsonl'), '{}')
  writeFileSync(join(elsewhere, 'c.json'), '{"rollout":1}')
  const mine = ['rollout rollouts/rollout-1.jsonl']
  assert.equal(await agentsOf(rollouts), mine)
  assert.equal(await agentsOf(elsewhere), ['rollout elsewhere/a.jsonl', 'claude-code elsewhere/b.jsonl'])
  assert.equal(
    (await agentsOf()).filter((found) => found.startsWith('rollout ')),
    mine,
  )
})

test('a root may be a single file with any name', async () => {
  const folder = join(path, 'single')
  mkdirSync(folder)
  for (const name of ['my.db', 'other.jsonl']) writeFileSync(join(folder, name), '')
  symlinkSync('my.db', join(folder, 'link.db'))
  assert.equal(await find([], [join(folder, 'my.db')]), ['single/my.db'])
  assert.equal(await find([], [join(folder, 'link.db'), join(folder, 'none.db')]), ['single/my.db'])
})

test('a folder that agents do not use for sessions is skipped by default, and searched when it is named', async () => {
  const folder = join(path, 'skipping')
  for (const place of ['snapshot/deep', 'chats/snapshot']) {
    mkdirSync(join(folder, place), { recursive: true })
    writeFileSync(join(folder, place, 's.jsonl'), '')
  }
  const agent: Agent = { ...agentIn(folder), skipsFolder: (below) => below === 'snapshot' }
  const found = async (...paths: readonly string[]) =>
    (await findSessionFiles([agent], paths, home, () => {})).map((file) => file.path.slice(folder.length + 1))
  assert.equal(await found(), ['chats/snapshot/s.jsonl'])
  assert.equal(await found(folder), ['chats/snapshot/s.jsonl', 'snapshot/deep/s.jsonl'])
})

test('a second file with the same session is skipped', async () => {
  const folder = join(path, 'rollouts', 'twice')
  mkdirSync(folder)
  for (const name of ['rollout-2', 'rollout-2.newer.jsonl']) writeFileSync(join(folder, name), '')
  assert.equal(await agentsOf(folder), ['rollout rollouts/twice/rollout-2.newer.jsonl'])
})

test.run()
