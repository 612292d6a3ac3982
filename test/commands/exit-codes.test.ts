import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit.ts'
import { loadProgram } from '../../src/commands/program.ts'
import { runCommand } from '../support/run-command.ts'
import { ask, tokenIn } from './support/api.ts'
import { type Ended, type User, newUser } from './support/user.ts'
import { actionsOf } from './support/program.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('the exit codes of all commands')

const { ok, failed, usage } = exitCodes
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')
const TRACE = 'trace-of-ada'
/** Another one, which is published while other commands run on the first. */
const OTHER = 'trace-that-is-shared'

/** Not tried: it depends on the machine, takes minutes or does not end, or a command that asks in the same way is. */
const any = undefined

/** What each client of a service ends with in each situation. */
// prettier-ignore
const table: readonly (readonly [line: string, ...codes: readonly (number | undefined)[]])[] = [
  //                                 no login  ended   away    good
  ['login',                          ok,       ok,     failed, ok],
  ['logout',                         ok,       ok,     failed, any], // the others have the same login
  ['logout --all',                   any,      any,    failed, any],
  ['logout --force',                 any,      any,    ok,     any],
  ['whoami',                         usage,    usage,  failed, ok],
  ['status',                         usage,    usage,  failed, ok],
  ['devices',                        usage,    usage,  failed, ok],
  ['devices add',                    usage,    any,    any,    ok],
  ['devices rename none laptop',     any,      any,    any,    usage],
  ['devices remove none --yes',      any,      any,    any,    usage],
  ['token',                          usage,    ok,     ok,     ok], // asks no server
  ['token --namespace none',         any,      any,    any,    usage],
  ['switch',                         usage,    usage,  failed, ok],
  ['switch none',                    any,      any,    any,    usage],
  ['sync',                           usage,    usage,  any,    ok], // waits two minutes
  ['sync --namespace none',          any,      any,    any,    usage],
  ['watch install',                  usage,    any,    any,    any],
  ['watch status',                   any,      any,    any,    failed],
  ['watch uninstall',                any,      any,    any,    any],
  ['hooks install claude-code',      usage,    any,    any,    ok],
  ['hooks uninstall claude-code',    any,      any,    any,    ok],
  ['hooks status',                   any,      any,    any,    ok],
  ['mcp',                            usage,    any,    any,    any], // serves until its input ends
  ['mcp install cursor',             usage,    any,    any,    ok],
  ['mcp install cursor --remove',    ok,       any,    any,    ok],
  ['agents',                         ok,       any,    any,    ok],
  ['ls',                             usage,    usage,  failed, ok],
  ['ls --namespace none',            any,      any,    any,    usage],
  ['ls --public',                    ok,       ok,     failed, ok],
  ['search word',                    ok,       ok,     failed, ok],
  ['show TRACE --no-pager',          usage,    usage,  failed, ok],
  ['show none --no-pager',           any,      any,    any,    usage],
  ['usage',                          usage,    usage,  failed, ok],
  ['usage --namespace none',         any,      any,    any,    usage],
  ['blame LINE',                     usage,    usage,  failed, ok],
  ['blame none',                     any,      any,    any,    usage],
  ['why LINE',                       usage,    usage,  failed, failed], // is unknown
  ['commits none',                   any,      any,    any,    usage],
  ['pr none',                        any,      any,    any,    usage],
  ['resume TRACE',                   any,      usage,  failed, ok],
  ['resume none',                    any,      any,    any,    usage],
  ['tail',                           usage,    usage,  failed, any],
  ['tail TRACE',                     any,      usage,  failed, any], // without a login it waits until the trace is public
  ['open --no-browser',              usage,    usage,  failed, ok],
  ['open none --no-browser',         any,      any,    any,    usage],
  ['export TRACE',                   usage,    usage,  failed, ok],
  ['export TRACE --revision 99',     any,      any,    any,    usage],
  ['export',                         any,      any,    any,    usage],
  ['export --all FOLDER',            usage,    usage,  failed, ok],
  ['export none',                    any,      any,    any,    usage],
  ['import FILE',                    usage,    usage,  any,    ok], // waits two minutes
  ['import none',                    any,      any,    any,    usage],
  ['share TRACE',                    any,      any,    any,    usage], // nobody can be asked
  ['share OTHER --yes',              usage,    any,    any,    ok],
  ['share none --yes',               any,      any,    any,    usage],
  ['unshare TRACE',                  usage,    usage,  failed, ok],
  ['unshare none',                   any,      any,    any,    usage],
  ['move TRACE none',                usage,    usage,  failed, usage],
  ['rm TRACE',                       any,      any,    any,    usage], // nobody can be asked
  ['rm TRACE none --yes',            usage,    any,    any,    usage], // erases none of them
  ['rm TRACE --history',             any,      any,    any,    usage], // nobody can be asked
  ['redact TRACE',                   usage,    any,    any,    ok], // has no secret
  ['redact none --yes',              any,      any,    any,    usage],
  ['namespaces',                     usage,    usage,  failed, ok],
  ['namespaces create no/slug',      usage,    any,    any,    usage],
  ['namespaces rename none None',    usage,    any,    any,    usage],
  ['members',                        usage,    usage,  failed, ok],
  ['members --namespace none',       any,      any,    any,    usage],
  ['members role none admin',        usage,    any,    any,    usage],
  ['members remove none --yes',      usage,    any,    any,    usage],
  ['invite',                         usage,    any,    any,    ok],
  ['invite ls',                      usage,    any,    any,    ok],
  ['invite revoke none',             usage,    any,    any,    usage],
  ['invite accept none',             usage,    usage,  failed, usage],
  ['audit log',                      usage,    usage,  failed, ok],
  ['audit log none',                 any,      any,    any,    usage],
  ['audit show TRACE',               usage,    any,    any,    ok],
  ['audit show TRACE --revision 99', any,      any,    any,    usage],
  ['audit show none',                any,      any,    any,    usage],
  ['audit diff TRACE --from 0',      usage,    any,    any,    ok],
  ['audit diff none --from 0',       any,      any,    any,    usage],
  ['audit verify --server',          usage,    usage,  failed, ok],
  ['audit proof TRACE 0',            usage,    usage,  failed, ok],
  ['audit proof TRACE 99',           any,      any,    any,    usage],
  ['audit proof none 0',             any,      any,    any,    usage],
  ['audit evidence --trace TRACE',   usage,    usage,  failed, ok],
  ['audit evidence --trace none',    any,      any,    any,    usage],
  ['completion bash',                ok,       any,    any,    ok],
]
const situations = ['without a login', 'with a session that has ended', 'out of reach', 'with a login'] as const

/** The situation that has to be the last one. */
const AWAY = 2

/** Those of operators, who have a database and a log: `../cli/exit.test.ts` and the tests of `log` and `audit` have their codes. */
const ofOperators =
  /^(?:serve|models|rebuild|doctor|openapi|backup|restore|users|log|audit (?:erasures|replay|export|import|new-key)|hooks run)\b/

const wordsOf = (line: string, file: string): string[] =>
  line.split(' ').map(
    (word) =>
      new Map([
        ['TRACE', TRACE],
        ['OTHER', OTHER],
        ['FILE', file],
        ['FOLDER', join(file, '..', 'exported')],
        ['LINE', join(file, '..', 'repository', 'a.ts:1')],
      ]).get(word) ?? word,
  )

/** Each command has folders of its own, with the login of the user: some of them change it. */
const newCopies = (folder: string, url: string, user: User | undefined) => {
  let copies = 0
  return (): User => {
    const copy = newUser(join(folder, `copy-${++copies}`), url)
    if (user) cpSync(user.config, copy.config, { recursive: true })
    return copy
  }
}

const readable = ({ how, out, err }: Ended): string => `${how}: ${err}${out}`

test('have the same meaning for every command, in one table', async () => {
  const differing: string[] = []
  let compared = 0
  await inOwnWorld(async ({ url, folder, user, newUser: logIn, putTrace, stop }) => {
    for (const trace of [TRACE, OTHER]) await putTrace(user, trace, { title: 'One' }, ['Hello'])
    const file = join(folder, 'session.json')
    assert.is((await user.run('export', TRACE, '--output', file)).how, 0)
    const repository = join(folder, 'repository')
    mkdirSync(repository)
    writeFileSync(join(repository, 'a.ts'), 'a line\n')
    execFileSync('git', ['init', '--quiet', repository])
    const gone = await logIn('bob')
    await ask(url, '/v1/session', { token: tokenIn(gone.config), method: 'DELETE' })
    const users = [undefined, gone, user, user]
    for (const column of [0, 1, 3, AWAY]) {
      if (column === AWAY) await stop()
      const newCopy = newCopies(join(folder, `column-${column}`), url, users[column])
      const rows = table.filter(([, ...codes]) => codes[column] !== any)
      const compare = async ([line, ...codes]: (typeof rows)[number]) => {
        const ended = await newCopy().run(...wordsOf(line, file))
        compared += 1
        if (ended.how !== codes[column])
          differing.push(`${line}, ${situations[column]!}: not ${codes[column]} but ${readable(ended)}`)
      }
      // All at once, because each that finds no server tries for ten seconds.
      await Promise.all(rows.map(compare))
    }
  })
  assert.equal(differing, [])
  assert.ok(compared > 110, `${compared} were compared`)
})

test('are in the table for every client of a service', async () => {
  const names = actionsOf(await loadProgram()).map(({ words }) => words.join(' '))
  const isListed = (name: string) => table.some(([line]) => line === name || line.startsWith(`${name} `))
  assert.equal(
    names.filter((name) => !ofOperators.test(name) && !isListed(name)),
    [],
  )
})

test('are 2 for every command if its arguments are wrong', async () => {
  for (const { words } of actionsOf(await loadProgram()))
    assert.is((await runCommand([...words, '--nonsense'], {})).how, usage, words.join(' '))
})

test('are 0 if there is nothing to do, and 1 if a part could not be done', () =>
  inOwnWorld(async ({ folder, user }) => {
    const code = async (...words: string[]) => (await user.run(...words)).how
    assert.is(await code('ls'), ok, 'there are no traces')
    assert.is(await code('sync'), ok, 'there are no sessions')
    assert.is(await code('rm'), usage, 'nothing is named')
    const sessions = join(folder, 'sessions')
    mkdirSync(sessions)
    cpSync(join(fixtures, 'projects'), sessions, { recursive: true })
    assert.is(await code('sync', sessions), ok)
    assert.is(await code('sync', sessions), ok, 'nothing is new')
    const session = join(sessions, '-w-app', '5e550000-0000-4000-8000-000000000001.jsonl')
    appendFileSync(session, '{"type":"user"}{"type":"user"}\n')
    assert.is(await code('sync', '--strict', sessions), failed, 'a line is skipped')
    assert.is(await code('sync', '--strict', sessions), ok, 'that is told once')
    assert.is(await code('sync', sessions, join(folder, 'none')), usage, 'one of the paths is not there')
    assert.is(await code('unshare', '5e55'), ok, 'it is private')
    assert.is(await code('share', '5e55', '--yes'), ok)
    assert.is(await code('share', '5e55', '--yes'), ok, 'it is public')
    assert.is(await code('logout'), ok)
    assert.is(await code('logout'), ok, 'nobody is logged in')
  }))

test.run()
