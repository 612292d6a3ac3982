import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { committedFiles, findNoCommit } from '../../../src/client/git/committed-files.ts'
import { openRepository } from '../../../src/client/git/open-repository.ts'
import { type Home, newHome } from '../rules/support/git.ts'

const test = suite<Home>('files of commits')

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

const commit = ({ git }: Home, root: string): string => {
  git(root, 'add', '--all')
  git(root, 'commit', '--quiet', '--message=change')
  return git(root, 'rev-parse', 'HEAD').trim()
}

const read = async (home: Home, root: string, wanted: Iterable<readonly [string, readonly string[]]>) => {
  const repository = await openRepository(root, home.env)
  const files = await Array.fromAsync(committedFiles(repository, wanted))
  return files.map(({ sha, path, lines }) => [sha, path, lines.map((line) => line.toString('latin1'))])
}

test('have the lines that each commit has, whatever their names and their content', async (home) => {
  const root = home.repository('app')
  const texts: Readonly<Record<string, string>> = {
    'plain.ts': 'one\ntwo\n',
    'open end.ts': 'one\n\ntwo',
    'empty.ts': '',
    'only\nbreaks "and" quotes': '\n\n',
    'ä*.ts': 'b\u00e4r\r\n',
    ':(top)x': 'x blob 3\n',
  }
  for (const [name, text] of Object.entries(texts)) home.write(join('app', name), text)
  const first = commit(home, root)
  home.write('app/plain.ts', 'three\n')
  const second = commit(home, root)
  const names = Object.keys(texts)
  const found = await read(home, root, [
    [first, names],
    [second, ['plain.ts']],
  ])
  const lines = new Map(found.map(([sha, path, lines]) => [`${sha as string} ${path as string}`, lines]))
  assert.equal(
    names.map((name) => lines.get(`${first} ${name}`)),
    [['one', 'two'], ['one', '', 'two'], [], ['', ''], ['b\u00c3\u00a4r\r'], ['x blob 3']],
  )
  assert.equal([lines.get(`${second} plain.ts`), found.length], [['three'], 7])
})

test('what a commit does not have, and what is no file, is left out', async (home) => {
  const root = home.repository('app')
  home.write('app/folder/a.ts', 'a\n')
  symlinkSync('folder/a.ts', join(root, 'link'))
  const sha = commit(home, root)
  assert.equal(await read(home, root, [[sha, ['none', 'folder', 'fold', 'folder/a.ts', 'folder//a.ts', 'folder/']]]), [
    [sha, 'folder/a.ts', ['a']],
  ])
})

test('more files than one run of git reads come one after the other', async (home) => {
  const root = home.repository('app')
  const names = Array.from({ length: 250 }, (_, i) => `f${i}`)
  for (const name of names) home.write(join('app', name), `${name}\n`)
  const sha = commit(home, root)
  const found = await read(home, root, [[sha, names]])
  assert.equal(found.map(([, path]) => path).sort(), [...names].sort())
  assert.ok(found.every(([, path, lines]) => path === (lines as string[])[0]))
})

test('an id that is not that of a commit is found', async (home) => {
  const root = home.repository('app')
  home.write('app/a.ts', 'a\n')
  const sha = commit(home, root)
  const tree = home.git(root, 'rev-parse', 'HEAD^{tree}').trim()
  const repository = await openRepository(root, home.env)
  const missing = 'f'.repeat(40)
  assert.equal(
    [
      await findNoCommit(repository, []),
      await findNoCommit(repository, [sha]),
      await findNoCommit(repository, [sha, tree]),
      await findNoCommit(repository, [missing, sha]),
    ],
    [undefined, undefined, tree, missing],
  )
})

test.run()
