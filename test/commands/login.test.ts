import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { allCredentials } from '../../src/client/login/credentials.ts'
import { runCommand } from '../support/run-command.ts'
import type { User } from './support/user.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('logging in as a new user')

/** Logs in on a terminal, where the questions get these answers. */
const answering = (
  { variables }: User,
  answers: readonly string[],
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = { USER: 'Ada.Lovelace' },
) => runCommand(['login', ...words], { ...variables, ...env }, { answers })

/** The name of the user, and the namespace of the login. */
const namesOf = async (user: User): Promise<readonly unknown[]> => {
  const { out } = await user.run('whoami', '--json')
  const { user: person, namespace } = JSON.parse(out) as {
    user: { displayName?: string }
    namespace: { slug: string; displayName: string }
  }
  return [person.displayName, namespace.slug, namespace.displayName]
}

const questions = (err: string) => err.split(/Your (?:name|slug)/).length - 1

test('on a terminal a new user is asked once for a name and a slug, and Enter takes the proposals', () =>
  inOwnWorld(async ({ newMachine }) => {
    const user = newMachine('one')
    const { how, out, err } = await answering(user, ['', ''])
    assert.is(how, 0, err)
    assert.match(err, 'Your name, as others see it (Enter: Ada.Lovelace, -: none): ')
    assert.match(err, 'Your slug, as in the address /@slug (Enter: ada-lovelace, -: a generated one): ')
    assert.match(out, /as Ada\.Lovelace \(user .*\), namespace ada-lovelace\./)
    assert.equal(await namesOf(user), ['Ada.Lovelace', 'ada-lovelace', 'Ada.Lovelace'])
    const again = await answering(user, [])
    assert.equal([again.how, questions(again.err)], [0, 0], again.err)
    await user.run('logout')
    assert.is(questions((await answering(user, [])).err), 0, 'a machine that has logged out has a user')

    const other = newMachine('other')
    assert.match((await answering(other, [' Ada King ', '@Ada-King'])).out, /as Ada King .*namespace ada-king\./)
    const third = newMachine('third')
    const taken = await answering(third, ['', ''])
    assert.is(taken.how, 0)
    assert.match(taken.err, /The slug "ada-lovelace" is taken\. Your namespace is "user-.*namespaces create SLUG\n/)
  }))

test('what is not answered, or cannot be asked, is generated', () =>
  inOwnWorld(async ({ newMachine }) => {
    const assertGenerated = async (user: User) => {
      const [name, slug] = await namesOf(user)
      assert.is(name, undefined)
      assert.match(String(slug), /^user-/)
    }
    const declining = newMachine('declining')
    assert.is((await answering(declining, ['-', '-'])).how, 0)
    await assertGenerated(declining)
    const root = newMachine('root')
    const { err } = await answering(root, ['', ''], [], { USER: 'root' })
    assert.match(err, 'Your name, as others see it (Enter: none): ')
    assert.match(err, 'Your slug, as in the address /@slug (Enter: a generated one): ')
    await assertGenerated(root)
    for (const [name, words, env] of [
      ['ci', [], { USER: 'ada', CI: 'true' }],
      ['no-input', ['--no-input'], { USER: 'ada' }],
      ['json', ['--json'], { USER: 'ada' }],
    ] as const) {
      const user = newMachine(name)
      const unasked = await answering(user, [], words, env)
      assert.equal([unasked.how, questions(unasked.err)], [0, 0], unasked.err)
      await assertGenerated(user)
    }
    const piped = newMachine('piped')
    const input = await runCommand(['login'], { ...piped.variables, USER: 'ada' }, { input: 'Eve\neve\n' })
    assert.equal([input.how, questions(input.err)], [0, 0])
    await assertGenerated(piped)
  }))

test('the end of the input ends the login, and nothing is made; the next one asks again', () =>
  inOwnWorld(async ({ newMachine }) => {
    for (const answers of [[], ['Ada']]) {
      const user = newMachine(`gone after ${answers.length}`)
      const { how, err } = await answering(user, answers)
      assert.is(how, 2)
      assert.match(err, 'Not logged in: nothing was made.')
      assert.is(existsSync(join(user.config, 'servers')), false)
      assert.is(questions((await answering(user, ['', '-'])).err), 2)
    }
  }))

test('the options give name and slug without a terminal, and only what they do not give is asked', () =>
  inOwnWorld(async ({ newMachine }) => {
    const user = newMachine('one')
    assert.is((await user.run('login', '--name', 'Ada', '--slug', ' ADA ')).how, 0)
    assert.equal(await namesOf(user), ['Ada', 'ada', 'Ada'])
    const known = await user.run('login', '--name', 'Eve', '--slug', 'eve')
    assert.equal([known.how, await namesOf(user)], [0, ['Eve', 'ada', 'Ada']])
    assert.match(known.err, 'The slug "eve" was not used, because this device has a user already.')

    const asked = newMachine('asked')
    const { err } = await answering(asked, ['grace'], ['--name', 'Grace'])
    assert.is(questions(err), 1)
    assert.equal(await namesOf(asked), ['Grace', 'grace', 'Grace'])

    const refused = newMachine('refused')
    const { how, out, err: said } = await refused.run('login', '--slug', 'a--b', '--json')
    const { namespace, slugRefused } = JSON.parse(out) as { namespace: string; slugRefused: unknown }
    assert.equal([how, slugRefused], [0, { slug: 'a--b', reason: 'invalid' }])
    assert.match(said, `The slug "a--b" cannot be one: it needs 1 to 64 letters`)
    assert.match(said, `Your namespace is "${namespace}"`)
    assert.match((await newMachine('reserved').run('login', '--slug', 'admin')).err, 'The slug "admin" is reserved.')
    assert.is((await newMachine('joining').run('login', '--join', 'code', '--slug', 'eve')).how, 2)
  }))

test('who signs up with an invite on a terminal is asked no second time for a name', () =>
  inOwnWorld(async ({ user, newMachine }) => {
    await user.run('namespaces', 'create', 'team')
    const { code } = JSON.parse((await user.run('invite', '--namespace', 'team', '--json')).out).invite as {
      code: string
    }
    const invited = newMachine('invited')
    const { how, err } = await answering(invited, ['-', ''], ['--invite', code])
    assert.equal([how, questions(err)], [0, 2], err)
    assert.equal(await namesOf(invited), [undefined, 'ada-lovelace', 'ada-lovelace'])
    assert.is(allCredentials(invited.config).length, 1)
  }))

test.run()
