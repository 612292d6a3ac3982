import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { bashScript } from '../../src/cli/completion/bash.ts'
import { fishScript } from '../../src/cli/completion/fish.ts'
import { type Place, placesOf } from '../../src/cli/completion/places.ts'
import { zshScript } from '../../src/cli/completion/zsh.ts'
import { loadProgram } from '../../src/commands/program.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { runJson } from './support/documents.ts'
import { newUser } from './support/user.ts'

const test = suite('tracebook completion')

const program = await loadProgram()
const places = placesOf(program)

/** Calls the function of the script for each line, of which the last word is being typed. */
const ASK = `
while IFS= read -r line; do
  IFS='|' read -ra COMP_WORDS <<< "$line"
  [[ $line == *'|' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _tracebook
  (IFS='|'; echo "\${COMPREPLY[*]}")
done
`

/** What bash offers for each line of words, the last of which is being typed. */
const offered = (lines: readonly (readonly string[])[], cwd: string): string[][] => {
  const input = lines.map((words) => ['tracebook', ...words].join('|')).join('\n')
  const bash = spawnSync('bash', ['--norc', '-c', bashScript(places) + ASK], {
    cwd,
    input: `${input}\n`,
    encoding: 'utf8',
  })
  assert.is(bash.stderr, '')
  return bash.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('|').filter((word) => word !== ''))
}

const wordsOf = ({ path }: Place) => (path === '' ? [] : path.split(' '))

test('bash is offered every command, option and choice there is', () =>
  inFolder(async (folder) => {
    assert.ok(places.length > 30)
    const commands = offered(
      places.map((place) => [...wordsOf(place), '']),
      folder,
    )
    const options = offered(
      places.map((place) => [...wordsOf(place), '-']),
      folder,
    )
    for (const [i, place] of places.entries()) {
      for (const { name } of place.commands) assert.ok(commands[i]!.includes(name), `${place.path} ${name}`)
      for (const { names } of place.options)
        for (const name of names) assert.ok(options[i]!.includes(name), `${place.path} ${name}`)
    }
    writeFileSync(join(folder, 'a file.json'), '')
    const cases: readonly (readonly [words: readonly string[], expected: readonly string[]])[] = [
      [['sh'], ['show', 'share']],
      [
        ['sync', '--visibility', ''],
        ['private', 'direct', 'public'],
      ],
      [['sync', '--visibility', '=', 'pu'], ['public']],
      [['ls', '--project', ''], []],
      [['ls', '--project', 'audit', '--pu'], ['--public']],
      [['members', 'role', 'Ada', 'a'], ['admin']],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
      [['import', 'a'], ['a file.json']],
      [['sync', 'one', 'a'], ['a file.json']],
      [['export', 'x', '-o', 'a'], ['a file.json']],
    ]
    assert.equal(
      offered(
        cases.map(([words]) => words),
        folder,
      ),
      cases.map(([, expected]) => [...expected]),
    )
  }))

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

test('zsh takes its script, and fish offers the same, where they are installed', () =>
  inFolder(async (folder) => {
    const [zsh, fish] = [join(folder, '_tracebook'), join(folder, 'tracebook.fish')]
    writeFileSync(zsh, zshScript(places))
    writeFileSync(fish, fishScript(places))
    if (isInstalled('zsh')) assert.equal(spawnSync('zsh', ['-n', zsh]).status, 0)
    else console.log('left out: there is no zsh')
    if (!isInstalled('fish')) return console.log('left out: there is no fish')
    const ask = (line: string) => {
      const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', `source ${fish}; complete -C '${line}'`], {
        env: { ...process.env, HOME: folder },
        encoding: 'utf8',
      })
      assert.is(stderr, '')
      return stdout
        .trimEnd()
        .split('\n')
        .map((one) => one.split('\t')[0])
    }
    assert.equal(ask('tracebook sh').toSorted(), ['share', 'show'])
    assert.equal(ask('tracebook members role Ada '), ['admin', 'member'])
    assert.equal(ask('tracebook ls --project audit --pu'), ['--public'])
    assert.equal(ask('tracebook sync --visibility pu'), ['public'])
  }))

test('the script is printed as it is, or as a document', () =>
  inFolder(async (folder) => {
    const user = newUser(folder, 'http://127.0.0.1:1')
    const { how, out } = await user.run('completion', 'bash')
    assert.equal([how, out.endsWith('complete -F _tracebook tracebook\n')], [0, true])
    assert.equal((await runJson(user, 'completion', 'bash')).documents, [
      { type: 'completion', shell: 'bash', script: out },
    ])
    assert.is((await user.run('completion', 'tcsh')).how, 2)
  }))

test.run()
