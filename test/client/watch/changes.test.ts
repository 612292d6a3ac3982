import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { agents } from '../../../src/client/agents/index.ts'
import { newChanges } from '../../../src/client/watch/changes.ts'
import { newWatchedFolders, type WatchFolder } from '../../../src/client/watch/watched-folders.ts'
import { until } from '../../support/until.ts'
import { opencodeDatabase } from '../agents/opencode/database-file.ts'
import { userLine, writeSession } from '../support/session-file.ts'
import { newAgentOfParts } from '../support/several-files.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('changes reported by the operating system')

type World = ReturnType<typeof newWorld>

/** A home with Claude Code's folder of one project, and what is told of it; the first scan is done by `begin`. */
const newWorld = (options: { readonly recursive?: boolean; readonly watchFolder?: WatchFolder } = {}) => {
  const { path: home, remove } = tempFolder()
  const project = join(home, '.claude', 'projects', '-w-app')
  mkdirSync(project, { recursive: true })
  const paths = new Set<string>()
  const folders = newWatchedFolders({ onPath: (path) => void paths.add(path), ...options })
  const unreadable: string[] = []
  const searched = { agents: agents as readonly Agent[], paths: [] as string[], home: { env: {}, home } }
  const links: string[] = []
  const changes = newChanges({
    searched,
    folders,
    unreadable: (path) => void unreadable.push(basename(path)),
    onLink: ({ path }) => void links.push(basename(path)),
  })
  const scan = async () => {
    const found = await changes.scan()
    found.changes.forEach(changes.settle)
    return found.changes.map(({ stored }) => basename(stored.source)).sort()
  }
  /** Resolves with the names of what has changed, by what was told and nothing else. */
  const told = () =>
    until(async () => {
      const found = await changes.at(paths)
      if (found.needsScan) return 'scan' as const
      const names = found.changes.map(({ stored }) => basename(stored.source))
      return names.length > 0 && names.sort()
    })
  const close = () => {
    folders.close()
    remove()
  }
  return { home, project, paths, folders, changes, searched, unreadable, links, scan, told, close }
}

const inWorld = async (work: (world: World) => Promise<unknown>, options: Parameters<typeof newWorld>[0] = {}) => {
  const world = newWorld(options)
  try {
    await work(world)
  } finally {
    world.close()
  }
}

const line = userLine('u-1', 'hello', { sessionId: 's-1' })

test('a linked folder and a linked file are told once', () =>
  inWorld(async ({ home, project, scan, links }) => {
    const outside = join(home, 'shared')
    mkdirSync(outside)
    symlinkSync(outside, join(project, 'linked'))
    writeFileSync(join(home, 's-2.jsonl'), line)
    symlinkSync(join(home, 's-2.jsonl'), join(project, 's-2.jsonl'))
    await scan()
    await scan()
    assert.equal(links.sort(), ['linked', 's-2.jsonl'])
  }))

for (const recursive of [false, true]) {
  const how = recursive ? 'one watch for all folders below' : 'a watch for each folder'
  test(`a new line, a new file and a new folder are reported, with ${how}`, () =>
    inWorld(
      async ({ project, paths, scan, told }) => {
        const file = writeSession(project, 's-1.jsonl', [line])
        assert.equal(await scan(), ['s-1.jsonl'])
        assert.equal(await scan(), [])
        paths.clear()
        appendFileSync(file, `${line}\n`)
        assert.equal(await told(), ['s-1.jsonl'])
        await scan()
        paths.clear()
        writeSession(project, 's-2.jsonl', [line])
        assert.equal(await told(), ['s-2.jsonl'])
        await scan()
        paths.clear()
        mkdirSync(join(project, 's-2', 'subagents'), { recursive: true })
        assert.is(await told(), 'scan')
        await scan()
        paths.clear()
        writeSession(join(project, 's-2', 'subagents'), 'agent-1.jsonl', [line])
        assert.equal(await told(), ['agent-1.jsonl'])
      },
      { recursive },
    ))
}

test('a folder that replaces another one is reported, and watched', () =>
  inWorld(async ({ project, paths, scan, told, changes }) => {
    writeSession(project, 's-1.jsonl', [line])
    await scan()
    renameSync(project, `${project}-old`)
    mkdirSync(project)
    assert.is(await told(), 'scan')
    await scan()
    paths.clear()
    writeSession(project, 's-2.jsonl', [line])
    assert.equal(await told(), ['s-2.jsonl'])
    assert.is(changes.sessions(), 1)
  }))

test('a watched folder that is created later, removed and created again is reported', () =>
  inWorld(async ({ home, paths, scan, told }) => {
    await scan()
    for (const round of [1, 2]) {
      paths.clear()
      const folder = join(home, '.pi', 'agent', 'sessions', '--w--')
      mkdirSync(folder, { recursive: true })
      assert.is(await told(), 'scan', `made, ${round}`)
      await scan()
      paths.clear()
      writeFileSync(join(folder, 't_p-1.jsonl'), '')
      assert.equal(await told(), ['t_p-1.jsonl'])
      await scan()
      paths.clear()
      rmSync(join(home, '.pi'), { recursive: true })
      assert.is(await told(), 'scan', `removed, ${round}`)
      await scan()
    }
  }))

test('the target of a symbolic link is watched', () =>
  inWorld(async ({ home, paths, scan, told }) => {
    mkdirSync(join(home, 'elsewhere'))
    mkdirSync(join(home, '.pi', 'agent'), { recursive: true })
    symlinkSync(join(home, 'elsewhere'), join(home, '.pi', 'agent', 'sessions'))
    await scan()
    paths.clear()
    writeFileSync(join(home, 'elsewhere', 't_p-1.jsonl'), '')
    assert.equal(await told(), ['t_p-1.jsonl'])
  }))

test('writes to the write-ahead log of a database are reported', () =>
  inWorld(async ({ home, paths, scan, told }) => {
    const folder = join(home, '.local', 'share', 'opencode')
    mkdirSync(folder, { recursive: true })
    const database = opencodeDatabase(join(folder, 'opencode.db'))
    database.project('p')
    for (const id of ['ses_1', 'ses_2']) database.session(id)
    assert.equal(await scan(), ['opencode.db#ses_1', 'opencode.db#ses_2'])
    await scan()
    paths.clear()
    database.session('ses_2', { title: 'another' })
    assert.equal(await told(), ['opencode.db#ses_2'])
    assert.equal([...paths].map((path) => basename(path)).sort()[0], 'opencode.db-wal')
    database.close()
  }))

test('a change of any file of a session is one of that session, also of a file that is new or gone', () =>
  inWorld(async ({ project, paths, searched, scan, told }) => {
    searched.agents = newAgentOfParts(project).agents
    writeSession(project, 's-1.jsonl', [line])
    const second = writeSession(project, 's-1.2.jsonl', [line])
    assert.equal([await scan(), await scan()], [['s-1.jsonl'], []])
    for (const path of [second, join(project, 's-1.3.jsonl')]) {
      paths.clear()
      appendFileSync(path, `${line}\n`)
      assert.equal(await told(), ['s-1.jsonl'])
      await scan()
    }
    rmSync(second)
    assert.equal([await scan(), await scan()], [['s-1.jsonl'], []])
  }))

test('a file that is not a session, or in a folder that is not searched, is not reported', () =>
  inWorld(async ({ home, project, paths, scan, changes }) => {
    const opencode = join(home, '.local', 'share', 'opencode')
    mkdirSync(join(opencode, 'snapshot', 'deep'), { recursive: true })
    await scan()
    paths.clear()
    writeFileSync(join(project, 's-1.meta.json'), '{}')
    writeFileSync(join(home, '.bash_history'), 'ls')
    mkdirSync(join(opencode, 'log'))
    mkdirSync(join(home, 'Documents'))
    writeFileSync(join(home, 'last'), '')
    await until(() => paths.has(join(home, 'last')) && paths.has(join(opencode, 'log')))
    paths.add(join(opencode, 'snapshot', 'deep', 'new'))
    mkdirSync(join(opencode, 'snapshot', 'deep', 'new'))
    assert.equal(await changes.at(paths), { changes: [], needsScan: false })
  }))

test('only the named files and folders are watched', () =>
  inWorld(async ({ home, project, searched, paths, folders, scan, told }) => {
    const file = writeSession(project, 's-1.jsonl', [line])
    const folder = join(home, 'kept')
    mkdirSync(folder)
    searched.paths.push(file, folder, join(home, 'not', 'there'))
    assert.equal(await scan(), ['s-1.jsonl'])
    assert.is(folders.count(), 3)
    writeSession(project, 's-2.jsonl', [line])
    appendFileSync(file, `${line}\n`)
    assert.equal(await told(), ['s-1.jsonl'])
    await scan()
    paths.clear()
    mkdirSync(join(home, 'not', 'there'), { recursive: true })
    assert.is(await told(), 'scan')
  }))

test('an unreadable file is reported once, and again if the reason changes', () =>
  inWorld(async ({ home, scan, unreadable }) => {
    const folder = join(home, '.local', 'share', 'opencode')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'opencode.db'), 'no database')
    await scan()
    await scan()
    assert.equal(unreadable, ['opencode.db'])
    mkdirSync(join(folder, 'x'))
    rmSync(join(folder, 'opencode.db'))
    await scan()
    assert.equal(unreadable, ['opencode.db'])
  }))

test('when the system has no watches left, the scan says so, and tries again', async () => {
  let isExhausted = true
  const watchFolder: WatchFolder = (folder) => {
    if (isExhausted && folder.includes('projects'))
      throw Object.assign(new Error('System limit for number of file watchers reached'), { code: 'ENOSPC' })
    return { on: () => undefined as never, close: () => {} }
  }
  await inWorld(
    async ({ changes }) => {
      assert.is((await changes.scan()).isWatched, false)
      isExhausted = false
      assert.is((await changes.scan()).isWatched, true)
    },
    { watchFolder },
  )
})

test.run()
