import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { start } from './support/processes.ts'
import type { User } from './support/user.ts'
import { inOwnWorld, namespaceOf } from './support/world.ts'

const test = suite('how commands take the name of a trace')

const [one, two] = ['0192f0c1-aaaa-4000-8000-000000000001', '0192f0c1-bbbb-4000-8000-000000000002']

/** What `tail` has printed when it says this, and is ended by Ctrl-C. */
const tailed = async (user: User, name: string, wanted: string): Promise<{ out: string; err: string }> => {
  const { child, ended } = start(['tail', name], user.variables)
  let all = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (piece) => (all += String(piece)))
  await until(() => all.includes(wanted))
  child.kill('SIGINT')
  const { how, out, err } = await ended
  assert.is(how, 0)
  return { out, err }
}

test('each takes an id, the beginning of one, or a link, and says which traces begin alike', () =>
  inOwnWorld(async ({ url, user, putTrace }) => {
    const slug = await namespaceOf(url, user)
    await putTrace(user, one, { title: 'The first' }, ['Mend the login page'])
    await putTrace(user, two, { title: 'The second' })
    const link = `${url}/@${slug}/${one}`

    const commands: readonly (readonly [args: (name: string) => readonly string[], out: RegExp])[] = [
      [(name) => ['audit', 'log', name], /The first/],
      [(name) => ['audit', 'show', name], /The first/],
      [(name) => ['audit', 'diff', name, '--from', '0'], /Messages added: 1/],
      [(name) => ['audit', 'proof', name, '0'], /"event"|"checkpoint"|"leaf"/],
      [(name) => ['export', name, '--revision', '0'], /The first/],
      [(name) => ['show', name, '--no-pager'], /The first/],
    ]
    for (const [args, expected] of commands) {
      for (const name of [one, '0192f0c1-a', link]) {
        const { how, out, err } = await user.run(...args(name))
        assert.is(how, 0, `${args(name).join(' ')}: ${err}`)
        assert.match(out, expected)
      }
      const { how, err } = await user.run(...args('0192f0c1'))
      assert.is(how, 2)
      assert.match(err, '"0192f0c1" matches 2 traces')
      assert.is((await user.run(...args(link), '--server', 'http://127.0.0.1:1')).how, 2)
    }
    for (const args of [
      ['export', one, '--revision', '99'],
      ['audit', 'show', one, '--revision', '99'],
      ['audit', 'proof', one, '99'],
    ]) {
      const { how, err } = await user.run(...args)
      assert.equal([how, err.includes(`audit log ${one}`)], [2, true], err)
    }

    const short = await user.run('show', '019')
    assert.equal([short.how, short.err.includes('at least 4 characters')], [2, true], short.err)

    for (const name of [one, link]) assert.match((await tailed(user, name, 'Mend')).out, 'Mend the login page')
    const found = await tailed(user, '0192f0c1-a', 'Mend')
    assert.equal([found.out.includes('Mend the login page'), found.err], [true, `Following ${one}\n`])
    const many = await user.run('tail', '0192f0c1')
    assert.equal([many.how, many.out], [2, ''])
    assert.match(many.err, 'matches 2 traces')
  }))

test('a trace that is not there yet is named by its whole id, one of others by its link', () =>
  inOwnWorld(async ({ url, user, newUser, putTrace }) => {
    await putTrace(user, one, { title: 'The first', visibility: 'public' }, ['Mend the login page'])
    const late = '0192f0c1-cccc-4000-8000-000000000003'
    const { child, ended } = start(['tail', late], user.variables)
    let all = ''
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (piece) => (all += String(piece)))
    await until(() => all.includes('waiting for it'))
    await putTrace(user, late, {}, ['Here it is'])
    await until(() => all.includes('Here it is'))
    child.kill('SIGINT')
    assert.is((await ended).how, 0)

    const link = `${url}/@${await namespaceOf(url, user)}/${one}`
    const other = await newUser('bob')
    assert.match((await tailed(other, link, 'Mend')).out, 'Mend the login page')
    assert.is((await other.run('audit', 'log', link)).how, 2)
    assert.is((await other.run('logout')).how, 0)
    const unknown = await other.run('show', '0192f0c1-a')
    assert.equal([unknown.how, unknown.err.includes('To log in, run')], [2, true])
    assert.match((await tailed(other, late, 'waiting for it')).err, 'log in first: npx tracebook login')
    assert.match((await tailed(other, link, 'Mend')).out, 'Mend the login page')
  }))

test.run()
