import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../../src/cli/exit.ts'
import { changedCommits, nothingLeftOut } from '../../../src/client/attribution/commits.ts'
import { locateLines } from '../../../src/client/attribution/locate.ts'
import { openRepository } from '../../../src/client/git/open-repository.ts'
import { patchIdsOf } from '../../../src/client/git/patch-ids.ts'
import { listCommits } from '../../../src/client/git/revisions.ts'
import { GitFailed } from '../../../src/client/git/run-git.ts'
import { type Home, newHome } from '../rules/support/git.ts'

const test = suite<Home>('where lines come from')

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

/** Instead of a hash the text, so that tests can be read. */
const lineOf = (text: Buffer) => text.toString('utf8').trim()

const START = 1_700_000_000_000
const HOUR = 3_600_000

/** A repository whose commits have the times START, an hour later, and so on. */
const newRepository = (home: Home, folder = 'app', ...flags: readonly string[]) => {
  const root = home.write(`${folder}/.keep`, '').replace(/\/\.keep$/, '')
  home.git(root, 'init', '--quiet', '--initial-branch=main', ...flags)
  rmSync(join(root, '.keep'))
  let commits = 0
  const git = (...args: readonly string[]) => home.git(root, ...args).trim()
  const put = (file: string, ...lines: readonly string[]) => home.write(`${folder}/${file}`, `${lines.join('\n')}\n`)
  const commit = (...args: readonly string[]): string => {
    const date = `@${(START + HOUR * commits++) / 1_000} +0000`
    const env = { ...home.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
    git('add', '--all')
    home.gitWith(env, root, 'commit', '--quiet', '--message=change', ...args)
    return git('rev-parse', 'HEAD')
  }
  const open = () => openRepository(root, home.env)
  const locate = async (path: string, { at, lines }: { at?: string; lines?: [number, number] } = {}) => {
    const found = await locateLines(await open(), { path, revision: at, lines }, lineOf)
    return found.lines.map(({ line, commit, text, added }) => {
      const hunk = added && found.hunks[added.hunk]!
      return { line, text, commit, ...(hunk && { hunk, asked: hunk.added[added!.line - hunk.start!] }) }
    })
  }
  return { root, git, put, commit, open, locate }
}

type Found = Awaited<ReturnType<ReturnType<typeof newRepository>['locate']>>
const brief = (found: Found) => found.map(({ text, commit, hunk }) => [text, commit, hunk?.added, hunk?.removed])

test('lines are asked for by the hunks of their commits, with both dates, and what is not committed without', async (home) => {
  const { put, commit, locate } = newRepository(home)
  put('src/a.ts', 'first one', 'second one', 'third one')
  const one = commit()
  put('src/a.ts', 'first one', 'second two', 'second three', 'third one')
  const two = commit()
  put('src/a.ts', 'first one', 'second two', '  second three', 'third mine', 'and a further one')
  const found = await locate('src/a.ts')
  assert.equal(brief(found), [
    ['first one', one, ['first one', 'second one', 'third one'], undefined],
    ['second two', two, ['second two', 'second three'], ['second one']],
    ['  second three', two, ['second two', 'second three'], ['second one']],
    ['third mine', undefined, ['third mine', 'and a further one'], ['third one']],
    ['and a further one', undefined, ['third mine', 'and a further one'], ['third one']],
  ])
  assert.equal(
    [found[0]!, found[1]!, found[3]!].map(({ hunk }) => [hunk!.path, hunk!.start, hunk!.at, hunk!.until]),
    [
      ['src/a.ts', 1, START, START],
      ['src/a.ts', 2, START + HOUR, START + HOUR],
      ['src/a.ts', 4, undefined, undefined],
    ],
  )
  for (const { text, asked } of found) assert.is(asked, text.trim())
  assert.equal(
    (await locate('src/a.ts', { lines: [2, 3] })).map(({ line, commit }) => [line, commit]),
    [
      [2, two],
      [3, two],
    ],
  )
  assert.equal(
    (await locate('src/a.ts', { at: one })).map(({ text, commit }) => [text, commit]),
    [
      ['first one', one],
      ['second one', one],
      ['third one', one],
    ],
  )
})

test('of an amended commit both dates are asked', async (home) => {
  const { put, commit, locate } = newRepository(home)
  put('a', 'one')
  commit()
  put('a', 'one', 'two')
  commit('--amend', `--date=@${START / 1_000} +0000`)
  const [found] = await locate('a')
  assert.equal([found!.hunk!.at, found!.hunk!.until], [START, START + HOUR])
})

test('new files, staged or not, and files of a repository without commits are not committed', async (home) => {
  const { put, git, commit, locate } = newRepository(home)
  put('new.ts', 'one', 'two')
  const whole = [
    ['one', undefined, ['one', 'two'], undefined],
    ['two', undefined, ['one', 'two'], undefined],
  ]
  assert.equal(brief(await locate('new.ts')), whole)
  put('base', 'base')
  git('add', 'base')
  commit('--', 'base')
  git('rm', '--quiet', '--cached', 'new.ts')
  assert.equal(brief(await locate('new.ts')), whole, 'unknown to git')
  git('add', 'new.ts')
  assert.equal(brief(await locate('new.ts')), whole, 'staged')
  put('new.ts', 'one', 'two', 'three')
  assert.equal(brief(await locate('new.ts', { lines: [3, 3] })), [
    ['three', undefined, ['one', 'two', 'three'], undefined],
  ])
  writeFileSync(join(home.home, 'app', '-'), 'dash')
  writeFileSync(join(home.home, 'app', '--help'), 'help')
  assert.equal(
    (await locate('-')).map(({ text }) => text),
    ['dash'],
  )
  assert.equal(
    (await locate('--help')).map(({ text }) => text),
    ['help'],
  )
})

test('ends of lines and encodings that git converts change nothing', async (home) => {
  const { root, git, put, commit, locate } = newRepository(home)
  put('a.txt', 'one of it', 'two of it')
  put('.gitattributes', 'u.txt working-tree-encoding=UTF-16LE-BOM')
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
  writeFileSync(join(root, 'u.txt'), utf16('é one\n'))
  const one = commit()
  git('config', 'core.autocrlf', 'true')
  writeFileSync(join(root, 'a.txt'), 'one of it\r\ntwo of it\r\nthree of it')
  assert.equal(
    (await locate('a.txt')).map(({ commit: sha, asked }) => [asked, sha]),
    [
      ['one of it', one],
      ['two of it', one],
      ['three of it', undefined],
    ],
  )
  writeFileSync(join(root, 'u.txt'), utf16('é one\nü two\n'))
  assert.equal(
    (await locate('u.txt')).map(({ text, commit: sha }) => [text, sha]),
    [
      ['é one', one],
      ['ü two', undefined],
    ],
  )
  put('.gitattributes', 'u*.txt working-tree-encoding=UTF-16LE-BOM')
  writeFileSync(join(root, 'unknown.txt'), utf16('ö three\n'))
  assert.equal(
    (await locate('unknown.txt')).map(({ text }) => text),
    ['ö three'],
  )
})

test('a rename has the path before it, committed or not; a revision of blame.ignoreRevsFile does not count', async (home) => {
  const { root, git, put, commit, locate } = newRepository(home)
  const lines = ['one of a file', 'two of a file', 'three of a file', 'four of a file']
  put('old.ts', ...lines)
  const one = commit()
  git('mv', 'old.ts', 'new.ts')
  put('new.ts', ...lines, 'five of a file')
  const two = commit()
  const [first, , , , fifth] = await locate('new.ts')
  assert.equal([first!.commit, first!.hunk!.path, first!.hunk!.previousPath], [one, 'old.ts', undefined])
  assert.equal([fifth!.commit, fifth!.hunk!.path, fifth!.hunk!.previousPath], [two, 'new.ts', 'old.ts'])
  git('mv', 'new.ts', 'moved.ts')
  appendFileSync(join(root, 'moved.ts'), 'six of a file\n')
  const moved = await locate('moved.ts')
  assert.equal([moved[0]!.commit, moved[5]!.commit, moved[5]!.hunk!.previousPath], [one, undefined, 'new.ts'])
  git('checkout', '--quiet', '--force', 'HEAD')
  git('reset', '--quiet', '--hard')
  put('new.ts', ...lines.map((line) => line.toUpperCase()), 'five of a file')
  const format = commit()
  assert.is((await locate('new.ts'))[0]!.commit, format)
  put('.ignore-revs', format)
  git('config', 'blame.ignoreRevsFile', '.ignore-revs')
  const [upper] = await locate('new.ts')
  assert.equal([upper!.text, upper!.commit, upper!.asked], ['ONE OF A FILE', one, 'one of a file'])
})

test('what a merge itself changed is its own; other merges change nothing', async (home) => {
  const { git, put, commit, locate, open } = newRepository(home)
  put('a', 'one of it', 'two of it')
  const base = commit()
  git('checkout', '--quiet', '-b', 'other')
  put('a', 'one changed there', 'two of it')
  commit()
  git('checkout', '--quiet', 'main')
  put('a', 'one changed here', 'two of it')
  commit()
  assert.throws(() => git('merge', '--quiet', 'other'))
  put('a', 'one of both', 'two of it')
  const merge = commit()
  git('checkout', '--quiet', '-b', 'more', 'other')
  put('b', 'of a file')
  commit()
  git('checkout', '--quiet', 'main')
  git('merge', '--quiet', '--no-edit', 'more')
  const [found] = await locate('a')
  assert.equal(
    [found!.commit, found!.hunk!.added, found!.hunk!.removed],
    [merge, ['one of both'], ['one changed here', 'one changed there']],
  )
  const repository = await open()
  const leftOut = nothingLeftOut()
  const listed = await listCommits(repository, [`${base}..HEAD`])
  assert.equal([listed.length, listed.filter(({ isMerge }) => isMerge).length], [5, 2])
  const changed = await Array.fromAsync(changedCommits(repository, listed, lineOf, leftOut))
  assert.equal(
    changed.map(({ commit: { isMerge }, hunks }) => [isMerge, hunks.flatMap(({ added }) => added)]),
    [
      [false, ['of a file']],
      [true, ['one of both']],
      [false, ['one changed here']],
      [false, ['one changed there']],
    ],
  )
  assert.is(leftOut.merge, 1)
})

test('names of any kind, repositories of any kind', async (home) => {
  const names = ['a b.ts', 'q"uote.ts', 'new\nline.ts', '\ttab', '-dash', ':(top)x', 'é.ts', '*.ts', '[a].ts']
  for (const flags of [[], ['--object-format=sha256']]) {
    const { root, git, put, commit, locate, open } = newRepository(home, `app${flags.length}`, ...flags)
    for (const name of names) put(name, `the text of ${JSON.stringify(name)}`)
    const one = commit()
    assert.is(one.length, flags.length === 0 ? 40 : 64)
    for (const name of names) {
      const [line] = await locate(name)
      assert.equal([line?.commit, line?.hunk?.path, line?.asked], [one, name, `the text of ${JSON.stringify(name)}`])
    }
    const [commits] = await Array.fromAsync(
      changedCommits(await open(), await listCommits(await open(), ['HEAD']), lineOf, nothingLeftOut()),
    )
    assert.equal(commits!.hunks.map(({ path }) => path).sort(), [...names].sort())
    const further = join(home.home, `further${flags.length}`)
    git('worktree', 'add', '--quiet', further)
    const inWorktree = await locateLines(
      await openRepository(further, home.env),
      { path: 'é.ts', revision: undefined, lines: undefined },
      lineOf,
    )
    assert.equal(
      inWorktree.lines.map(({ commit }) => commit),
      [one],
    )
    if (flags.length > 0) continue
    put('a b.ts', 'changed since')
    commit()
    const shallow = join(home.home, 'shallow')
    home.git(home.home, 'clone', '--quiet', '--depth=1', `file://${root}`, shallow)
    assert.is((await openRepository(shallow, home.env)).isShallow, true)
    home.git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', shallow, 'sub')
    const sub = await openRepository(join(root, 'sub'), home.env)
    assert.is(sub.root, join(root, 'sub'))
    commit()
    const leftOut = nothingLeftOut()
    await Array.fromAsync(changedCommits(await open(), await listCommits(await open(), ['HEAD']), lineOf, leftOut))
    assert.is(leftOut.submodule, 1)
  }
})

test('without files, without a repository, without trust or without git there is none', async (home) => {
  const refused = async (folder: string, why: RegExp, env: NodeJS.ProcessEnv = home.env) => {
    const error = await openRepository(folder, env).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.instance(error, UsageError)
    assert.match((error as Error).message, why)
  }
  const { root } = newRepository(home)
  const bare = join(home.home, 'bare.git')
  home.git(home.home, 'init', '--quiet', '--bare', bare)
  await refused(bare, /bare/)
  await refused(home.home, /not in a git repository/)
  await refused(join(root, '.git'), /belongs to git itself/)
  await refused(root, /not installed/, { ...home.env, PATH: home.home })
  home.git(root, 'config', 'filter.a=b.clean', 'cat')
  await refused(root, /cannot be switched off/)
  assert.is(
    (await openRepository(newRepository(home, 'other').root, { ...home.env, GIT_DIR: bare, GIT_WORK_TREE: '/' })).root,
    join(home.home, 'other'),
  )
})

/** Puts a program that leaves a file into each place from which git would run one. */
const setTraps = (home: Home, root: string) => {
  const trap = join(home.home, 'trap')
  const program = home.write('program', `#!/bin/sh\necho "$0 $*" >> '${trap}'\nexit 1\n`)
  chmodSync(program, 0o755)
  const settings = [
    ...['core.fsmonitor', 'core.sshCommand', 'core.pager', 'core.askPass', 'core.editor', 'core.gitProxy'],
    ...['diff.external', 'diff.evil.command', 'diff.evil.textconv', 'filter.evil.clean', 'filter.evil.smudge'],
    ...[
      'filter.evil.process',
      'gpg.program',
      'credential.helper',
      'interactive.diffFilter',
      'remote.origin.uploadpack',
    ],
    ...['pager.blame', 'pager.log', 'pager.diff', 'remote.origin.receivepack', 'core.alternateRefsCommand'],
  ]
  for (const name of settings) home.git(root, 'config', name, program)
  for (const name of ['blame', 'log', 'diff', 'diff-tree', 'rev-parse', 'patch-id'])
    home.git(root, 'config', `alias.${name}`, `!${program}`)
  for (const [name, value] of Object.entries({
    'filter.evil.required': 'true',
    'log.showSignature': 'true',
    'diff.submodule': 'log',
    'diff.ignoreSubmodules': 'none',
    'submodule.recurse': 'true',
    'diff.noprefix': 'true',
    'diff.interHunkContext': '50',
    'diff.renames': 'false',
    'color.ui': 'always',
  }))
    home.git(root, 'config', name, value)
  for (const hook of ['post-index-change', 'reference-transaction', 'pre-auto-gc', 'fsmonitor-watchman']) {
    const file = home.write(`app/.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> '${trap}'\n`)
    chmodSync(file, 0o755)
  }
  return { trap, program }
}

test('nothing that a repository names is run, and its settings change nothing', async (home) => {
  const { root, git, put, commit, open, locate } = newRepository(home)
  put('.gitattributes', '*.ts diff=evil filter=evil')
  put('a.ts', 'one of a file', 'two of a file')
  put('b.ts', 'one of b')
  const sub = newRepository(home, 'part')
  sub.put('x', 'of a part')
  sub.commit()
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', sub.root, 'sub')
  const one = commit()
  put('a.ts', 'one of a file', 'two changed', 'three of a file')
  const signed = commit()
  const header = git('cat-file', 'commit', signed).replace(
    '\n\n',
    '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n',
  )
  const object = execFileSync('git', ['-C', root, 'hash-object', '-t', 'commit', '-w', '--stdin'], {
    input: `${header}\n`,
    encoding: 'utf8',
    env: home.env,
  }).trim()
  git('update-ref', 'refs/heads/main', object)
  put('a.ts', 'one of a file', 'two changed', 'three of a file', 'four of a file')
  put('new.ts', 'of a new file')
  const { trap, program } = setTraps(home, root)
  home.git(join(root, 'sub'), 'config', 'core.fsmonitor', program)
  home.write('app/sub/x', 'changed')

  const hostile = {
    GIT_EXTERNAL_DIFF: program,
    GIT_SSH_COMMAND: program,
    GIT_PAGER: program,
    GIT_DIR: join(home.home, 'part', '.git'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: program,
    GIT_ASKPASS: program,
    GIT_TRACE: join(home.home, 'trace'),
  }
  const repository = await openRepository(root, { ...home.env, ...hostile })
  assert.is(repository.root, root)
  const found = await locateLines(repository, { path: 'a.ts', revision: undefined, lines: undefined }, lineOf)
  assert.equal(
    found.lines.map(({ commit: sha }) => sha),
    [one, object, object, undefined],
  )
  assert.equal(
    found.hunks.map(({ added }) => added),
    [['one of a file', 'two of a file'], ['two changed', 'three of a file'], ['four of a file']],
  )
  assert.equal(
    (await locate('new.ts')).map(({ asked }) => asked),
    ['of a new file'],
  )
  const listed = await listCommits(repository, [`${one}..HEAD`, one])
  const changed = await Array.fromAsync(changedCommits(repository, listed, lineOf, nothingLeftOut()))
  assert.equal(
    changed[0]!.hunks.map(({ path, added }) => [path, added]),
    [['a.ts', ['two changed', 'three of a file']]],
  )
  assert.is(
    (
      await patchIdsOf(
        await open(),
        listed.map(({ sha }) => sha),
      )
    ).size,
    2,
  )
  assert.not(existsSync(trap), existsSync(trap) ? execFileSync('cat', [trap], { encoding: 'utf8' }) : '')
  assert.not(existsSync(join(home.home, 'trace')))

  assert.throws(() => git('diff'))
  assert.ok(existsSync(trap), 'the traps are none')
})

test('objects that a partial clone lacks are not fetched, so no program of a remote is run', async (home) => {
  const { root, git, put, commit } = newRepository(home)
  put('a.ts', 'one of a file')
  commit()
  put('a.ts', 'one of a file', 'two of a file')
  commit()
  git('config', 'uploadpack.allowFilter', 'true')
  const partial = join(home.home, 'partial')
  home.git(home.home, 'clone', '--quiet', '--filter=blob:none', `file://${root}`, partial)
  const { trap, program } = setTraps(
    { ...home, write: (file, content) => home.write(file.replace('app/', 'partial/'), content) },
    partial,
  )
  const [repository] = [await openRepository(partial, home.env)]
  for (const url of [`file://${root}`, 'ssh://host.example/app', `ext::${program}`]) {
    home.git(partial, 'config', 'remote.origin.url', url)
    const error = await locateLines(repository, { path: 'a.ts', revision: 'HEAD~1', lines: undefined }, lineOf).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.instance(error, GitFailed)
  }
  assert.not(existsSync(trap), existsSync(trap) ? execFileSync('cat', [trap], { encoding: 'utf8' }) : '')

  home.git(partial, 'config', 'remote.origin.url', 'ssh://host.example/app')
  assert.throws(() => home.git(partial, 'cat-file', 'blob', 'HEAD~1:a.ts'))
  assert.ok(existsSync(trap), 'the traps are none')
})

test.run()
