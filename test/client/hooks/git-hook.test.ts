import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { globalHook } from '../../../src/client/hooks/global-hook.ts'
import type { Hook } from '../../../src/client/hooks/hook.ts'
import { repositoryHook } from '../../../src/client/hooks/repository-hook.ts'
import { until } from '../../support/until.ts'
import { fakeProgram } from '../support/fake-program.ts'
import { filesBelow } from '../support/files-below.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('the hook of git')

type World = {
  readonly home: string
  readonly top: string
  readonly env: Readonly<Record<string, string>>
  readonly git: (...args: readonly string[]) => string
  readonly commit: () => void
  readonly file: string
  readonly hook: Hook
  /** What is called instead of Tracebook. */
  readonly program: { command: string[]; environment: Record<string, string>; server: string }
  readonly calls: () => readonly string[]
}

/** A repository in a home of its own. */
const inRepository = async (work: (world: World) => Promise<unknown>) => {
  const { path: home, remove } = tempFolder()
  const top = join(home, 'my repository')
  mkdirSync(top)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  }
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: top, env, encoding: 'utf8' })
  const { calls } = fakeProgram(join(home, 'bin'), 'tracebook')
  git('init', '--quiet')
  const world: World = {
    home,
    top,
    env,
    git,
    commit: () => void git('commit', '--quiet', '--allow-empty', '--message', 'x'),
    file: join(top, '.git', 'hooks', 'post-commit'),
    hook: repositoryHook(top, env),
    program: { command: [join(home, 'bin', 'tracebook')], environment: { A: "b'c" }, server: 'http://x' },
    calls,
  }
  try {
    await work(world)
  } finally {
    remove()
  }
}

const CALL = 'hooks run git --server http://x'

test('the hook is created if there was none, called with each commit, and removed with every file that it created', () =>
  inRepository(async ({ top, file, hook, program, commit, calls }) => {
    rmSync(join(top, '.git', 'hooks'), { recursive: true })
    const before = filesBelow(top)
    assert.is(await hook.isInstalled(), false)
    assert.is(await hook.install(program), true)
    assert.is(await hook.install(program), false)
    assert.is(await hook.isInstalled(), true)
    assert.is(statSync(file).mode & 0o111, 0o111)
    commit()
    await until(() => calls().includes(CALL))
    assert.is(await hook.uninstall(), true)
    assert.is(await hook.uninstall(), false)
    assert.equal(
      filesBelow(top).filter((path) => path.includes('hooks')),
      before.filter((path) => path.includes('hooks')),
    )
  }))

test('an existing hook continues to run, and is restored byte by byte', () =>
  inRepository(async ({ home, file, hook, program, commit, calls }) => {
    const noted = join(home, 'noted')
    const python = `#!/usr/bin/env python3\nopen("${noted}", "a").write("ran\\n")\n`
    const shell = `echo ran >> '${noted}'`
    const scripts = [`#!/bin/sh\n${shell}\n`, `#!/usr/bin/env bash\nset -eu\n${shell}; exit 0`, python]
    for (const script of scripts) {
      rmSync(noted, { force: true })
      writeFileSync(file, script)
      chmodSync(file, 0o750)
      const called = calls().length
      await hook.install(program)
      await hook.install({ ...program, environment: {} })
      commit()
      assert.is(readFileSync(noted, 'utf8'), 'ran\n', script)
      await until(() => calls().length > called)
      assert.is(await hook.uninstall(), true)
      assert.is(readFileSync(file, 'utf8'), script)
      assert.is(statSync(file).mode & 0o777, 0o750)
    }
    for (const text of ['#!/bin/sh', '#!/bin/sh\n', '', '#!/bin/sh\r\n:\r\n']) {
      writeFileSync(file, text)
      await hook.install(program)
      await hook.uninstall()
      assert.is(readFileSync(file, 'utf8'), text)
    }
  }))

test('a hook that is a symbolic link stays one', () =>
  inRepository(async ({ top, home, file, hook, program, commit, calls }) => {
    const script = join(top, 'scripts.sh')
    const text = `#!/bin/sh\necho ran >> '${join(home, 'noted')}'\n`
    writeFileSync(script, text, { mode: 0o755 })
    symlinkSync(script, file)
    await hook.install(program)
    commit()
    await until(() => calls().length > 0)
    assert.ok(existsSync(join(home, 'noted')))
    await hook.uninstall()
    assert.ok(lstatSync(file).isSymbolicLink())
    assert.is(readFileSync(script, 'utf8'), text)
  }))

test('lines that the user added to the created file stay', () =>
  inRepository(async ({ file, hook, program }) => {
    rmSync(file, { force: true })
    await hook.install(program)
    writeFileSync(file, `${readFileSync(file, 'utf8')}echo mine\n`)
    await hook.uninstall()
    assert.is(readFileSync(file, 'utf8'), '#!/bin/sh\necho mine\n')
  }))

test('a hook file that is shared with other repositories is not changed, and the error says which line to add', () =>
  inRepository(async ({ top, home, file, git, hook, program }) => {
    const refusedWith = async (pattern: RegExp) => {
      const error = await hook.install(program).catch((thrown: Error) => thrown)
      assert.match((error as Error).message, pattern)
    }
    git('config', 'core.hooksPath', '.husky/_')
    mkdirSync(join(top, '.husky', '_'), { recursive: true })
    await refusedWith(/^husky writes .* \.husky\/post-commit:\n {4}A='b'\\''c' .*hooks run git/)
    git('config', 'core.hooksPath', '.githooks')
    await refusedWith(/are in its own folder .*which everybody who clones it gets/)
    git('config', 'core.hooksPath', join(home, 'shared'))
    await refusedWith(/a folder that other repositories use too.*--global/)
    git('config', '--unset', 'core.hooksPath')
    writeFileSync(file, '#!/bin/sh\nlefthook run post-commit "$@"\n')
    await refusedWith(/^lefthook writes .* lefthook\.yml/)
    const outside = await repositoryHook(home, {})
      .install(program)
      .catch((thrown: Error) => thrown)
    assert.match((outside as Error).message, /not in a git repository/)
  }))

test('with --global, the hooks of each repository still run, and removal restores the settings of git byte for byte', () =>
  inRepository(async ({ home, top, env, git, commit, program, calls }) => {
    const hook = globalHook(home, join(home, 'state'), env)
    const config = join(home, '.gitconfig')
    writeFileSync(join(top, '.git', 'hooks', 'pre-commit'), `#!/bin/sh\necho "$0" >> '${join(home, 'noted')}'\n`, {
      mode: 0o755,
    })
    for (const text of [
      undefined,
      '',
      '[user]\n\tname = a',
      '# mine\n[core]\n\teditor = vi\n\n',
      '\n\n[a]\r\n\tb = c\r\n',
    ]) {
      if (text === undefined) rmSync(config, { force: true })
      else writeFileSync(config, text)
      rmSync(join(home, 'noted'), { force: true })
      const called = calls().length
      assert.is(await hook.install(program), true)
      assert.is(await hook.install(program), false)
      commit()
      await until(() => calls().length > called)
      assert.match(readFileSync(join(home, 'noted'), 'utf8'), 'pre-commit')
      assert.is(await hook.uninstall(), true)
      assert.is(existsSync(config) ? readFileSync(config, 'utf8') : undefined, text === '' ? undefined : text)
      assert.not.ok(existsSync(join(home, 'state', 'git-hooks')))
    }
    git('config', '--global', 'core.hooksPath', '~/my-hooks')
    const before = readFileSync(config, 'utf8')
    await hook.install(program)
    assert.ok(existsSync(join(home, 'my-hooks', 'post-commit')))
    assert.is(readFileSync(config, 'utf8'), before)
    await hook.uninstall()
    assert.not.ok(existsSync(join(home, 'my-hooks')))
  }))

test.run()
