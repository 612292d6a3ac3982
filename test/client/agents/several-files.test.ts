import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SessionMessage } from '../../../src/client/agents/agent.ts'
import { filesOf, findSessionFiles, totalSize } from '../../../src/client/agents/session-files.ts'
import { newPartedFiles, type Parted, parted, type Run, textOfRun, textsOf } from '../support/parted.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('all files of a session')
const { path: folder, remove } = tempFolder()
test.after(remove)

const [codex, claude] = parted as readonly [Parted, Parted]
const homeIn = () => mkdtempSync(join(folder, 'home-'))

/** Writes runs below a home of their own, and gives it with the path of each file. */
const written = (kind: Parted, ...runs: readonly Run[]) => {
  const home = homeIn()
  const files = newPartedFiles(home, kind)
  const paths = new Map(runs.map((run) => [run.file, files.write(run)]))
  return { home, path: (file: number) => paths.get(file)! }
}

const runs: readonly Run[] = [
  { file: 0, turns: [0, 1] },
  { file: 1, turns: [2] },
  { file: 2, turns: [3] },
]

const find = ({ agent }: Parted, home: string, paths: readonly string[] = []) =>
  findSessionFiles([agent], paths, { env: {}, home }, assert.unreachable)

/** Reads the only session below a home. */
const read = async (kind: Parted, home: string, paths: readonly string[] = []) => {
  const found = await find(kind, home, paths)
  assert.is(found.length, 1)
  const [stored] = await Array.fromAsync(kind.agent.sessions(found[0]!.path, found[0]!.others))
  const damaged: [number, string | undefined][] = []
  const session = await stored!.read({ onMalformed: (line, _, path) => void damaged.push([line, path]) })
  const messages = await Array.fromAsync(session.messages())
  return { stored: stored!, session, damaged, messages: messages.sort((a, b) => a.order - b.order) }
}

const textIn = ({ parts }: SessionMessage) => parts.map(({ content }) => ('text' in content ? content.text : ''))
const texts = (messages: readonly SessionMessage[]) => messages.flatMap(textIn)
const orders = (messages: readonly SessionMessage[]) => new Map(messages.map((each) => [textIn(each)[0], each.order]))

for (const kind of parted) {
  const { agent } = kind

  test(`${agent.name}: have its fields from the first one, and its title over all`, async () => {
    const { home } = written(kind, ...runs.toReversed())
    const { session, stored, messages } = await read(kind, home)
    const { title, projectPath, gitBranch } = session.trace
    assert.equal(texts(messages), [0, 1, 2, 3].flatMap(textsOf))
    assert.is(title, 'prompt 0')
    if (projectPath !== undefined) assert.is(projectPath, '/w/app-0')
    if (gitBranch !== undefined) assert.is(gitBranch, 'b-0')
    assert.is(stored.files.length, 3)
    if (projectPath !== undefined) assert.equal(session.folders, ['/w/app-0', '/w/app-1', '/w/app-2'])
  })

  test(`${agent.name}: are read if one is named alone, below a home folder or a copy of one`, async () => {
    const { home, path } = written(kind, ...runs)
    for (const elsewhere of [home, homeIn()])
      for (const file of [0, 1, 2]) {
        const { messages } = await read(kind, elsewhere, [path(file)])
        assert.equal(texts(messages), [0, 1, 2, 3].flatMap(textsOf), `file ${file}`)
      }
    const found = await find(kind, homeIn(), [path(1)])
    const sizes = [0, 1, 2].map((file) => readFileSync(path(file)).length)
    assert.is(
      totalSize(found),
      sizes.reduce((sum, size) => sum + size),
      'the bytes of all count',
    )
  })

  test(`${agent.name}: have the records of a copy once, and what both went on with`, async () => {
    const { home, path } = written(kind, runs[0]!, runs[1]!)
    writeFileSync(path(1), readFileSync(path(0)))
    for (const [file, turn] of [
      [1, 2],
      [0, 3],
      [1, 4],
    ] as const)
      appendFileSync(path(file), textOfRun(kind, { file, turns: [turn] }, false))
    assert.equal(texts((await read(kind, home)).messages), [0, 1, 2, 3, 4].flatMap(textsOf))
  })

  test(`${agent.name}: keep their orders when the file is gone that a copy has gone on from`, async () => {
    const { home, path } = written(kind, runs[0]!, runs[1]!)
    writeFileSync(path(1), readFileSync(path(0)))
    appendFileSync(path(1), textOfRun(kind, { file: 1, turns: [2, 3] }, false))
    const before = orders((await read(kind, home)).messages)
    rmSync(path(0))
    assert.equal(orders((await read(kind, home)).messages), before)
  })

  test(`${agent.name}: have their damaged lines counted, each with its file`, async () => {
    const { home, path } = written(kind, ...runs)
    for (const file of [0, 2]) appendFileSync(path(file), 'not a record\n')
    const { damaged, session } = await read(kind, home)
    assert.equal(damaged.map(([, file]) => file).sort(), [path(0), path(2)])
    assert.is(session.skippedLines, 2)
  })
}

test('a file of another session with the same name in another folder is left alone unless the name has an id', async () => {
  const home = homeIn()
  const files = newPartedFiles(home, claude)
  const path = files.write(runs[0]!)
  const notes = join(dirname(path), 'notes.jsonl')
  writeFileSync(notes, readFileSync(path))
  const [found] = await find(claude, home, [notes])
  assert.equal(filesOf(found!), [notes])
})

test('Codex: segments keep their orders when the first one is gone, or compressed', async () => {
  const { home, path } = written(codex, ...runs)
  const before = orders((await read(codex, home)).messages)
  writeFileSync(`${path(0)}.zst`, zstdCompressSync(readFileSync(path(0))))
  rmSync(path(0))
  assert.equal(orders((await read(codex, home)).messages), before)
  rmSync(`${path(0)}.zst`)
  const { messages } = await read(codex, home)
  assert.equal(texts(messages), [2, 3].flatMap(textsOf))
  for (const [text, order] of orders(messages)) assert.is(order, before.get(text), text)
})

test('Codex: two segments that went on from the same place are in the order of their times', async () => {
  const lines = (file: number, turn: number, ordinal: number) =>
    textOfRun(codex, { file, turns: [turn] }, false)
      .trim()
      .split('\n')
      .map((line, n) => `${JSON.stringify({ ...(JSON.parse(line) as object), ordinal: ordinal + n })}\n`)
      .join('')
  const { home, path } = written(codex, ...runs)
  writeFileSync(path(1), lines(1, 2, 20) + lines(1, 4, 23))
  writeFileSync(path(2), lines(2, 3, 20) + lines(2, 5, 23))
  assert.equal(texts((await read(codex, home)).messages), [0, 1, 2, 3, 4, 5].flatMap(textsOf))
})

test('a file that is written without an end is gone on with', async () => {
  const { home, path } = written(codex, ...runs)
  const more = textOfRun(codex, { file: 1, turns: [5] }, false)
  appendFileSync(path(1), more.slice(0, -5))
  const { messages, damaged } = await read(codex, home)
  assert.equal([texts(messages), damaged], [[...[0, 1, 2, 3].flatMap(textsOf), 'prompt 5'], []])
  appendFileSync(path(1), more.slice(-5))
  assert.equal(texts((await read(codex, home)).messages), [0, 1, 2, 3, 5].flatMap(textsOf))
})

test.run()
