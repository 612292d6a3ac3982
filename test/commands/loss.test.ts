import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './support/api.ts'
import type { Ended, User } from './support/user.ts'
import { inOwnWorld, type OwnWorld } from './support/world.ts'

const test = suite('a user who was removed from a namespace')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')

const documents = ({ out }: Ended) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

/** The namespaces to which sessions have gone. */
const sentTo = (ended: Ended) =>
  documents(ended).flatMap(({ type, namespace }) => (type === 'session' ? [namespace] : []))

/** The code of an invite that was made. */
const codeIn = ({ out }: Ended) => (JSON.parse(out) as { invite: { code: string } }).invite.code

type Team = {
  readonly admin: User
  readonly ada: User
  /** Removes ada from the team. */
  readonly remove: () => Promise<unknown>
  readonly admit: () => Promise<unknown>
}

/** Runs work with a namespace `acme`, of which Ada, whose own namespace is `ada`, is a member. */
const inTeam = (work: (team: Team, world: OwnWorld) => Promise<unknown>) =>
  inOwnWorld(async (world) => {
    const { url, user: admin, newMachine } = world
    const ada = newMachine('of ada')
    assert.is((await ada.run('login', '--slug', 'ada')).how, 0)
    assert.is((await admin.run('namespaces', 'create', 'acme')).how, 0)
    const admit = async () => {
      const code = codeIn(await admin.run('invite', '--namespace', 'acme', '--json'))
      assert.is((await ada.run('invite', 'accept', code)).how, 0)
    }
    const { user } = await ask<{ user: { id: string } }>(url, '/v1/session', { token: tokenIn(ada.config) })
    const remove = () => admin.run('members', 'remove', user.id, '--namespace', 'acme', '--yes')
    await admit()
    await work({ admin, ada, remove, admit }, world)
  })

const LOSS = 'you are no longer in @acme: going on in @ada\n'

test('reads it once, at the next command, and nothing else has changed in its output', () =>
  inTeam(async ({ ada, admin, remove, admit }, { putTrace }) => {
    assert.is((await ada.run('switch', 'acme')).how, 0)
    await putTrace(admin, 'of-the-team', { title: 'Of the team' })
    await remove()
    const listed = await ada.run('ls', '--json')
    assert.equal([listed.how, listed.out, listed.err], [0, '', LOSS])
    for (const words of [
      ['ls', '--json'],
      ['sync', '--dry-run', '--json'],
      ['namespaces', '--json'],
    ])
      assert.is((await ada.run(...words)).err, '', words.join(' '))

    await admit()
    assert.is((await ada.run('ls', '--json')).err, '')
    assert.is((await ada.run('switch', 'acme')).how, 0)
    await remove()
    assert.match((await ada.run('usage', '--json')).err, LOSS)
    assert.is((await ada.run('usage', '--json')).err, '')
  }))

test('goes on uploading to the own namespace, says so, and a dry run says it and notes nothing', () =>
  inTeam(async ({ ada, remove }) => {
    cpSync(fixtures, ada.claude, { recursive: true })
    await ada.run('switch', 'acme')
    assert.equal(sentTo(await ada.run('sync', '--json')), ['acme', 'acme'])
    await remove()
    assert.match((await ada.run('sync', '--dry-run')).err, LOSS)
    const first = await ada.run('sync', '--json')
    assert.equal([first.how, sentTo(first), first.err], [0, ['ada', 'ada'], LOSS])
    const second = await ada.run('sync', '--json')
    assert.equal([second.how, second.err], [0, ''])
  }))

test('is not moved to a namespace of other people: nothing is uploaded there before it is chosen', () =>
  inTeam(async ({ admin, ada, remove }, { url }) => {
    cpSync(fixtures, ada.claude, { recursive: true })
    // Ada gives her own namespace away, so that only those of others are left.
    const given = await ada.run('invite', '--role', 'admin', '--json')
    assert.is((await admin.run('invite', 'accept', codeIn(given))).how, 0)
    const { user } = await ask<{ user: { id: string } }>(url, '/v1/session', { token: tokenIn(ada.config) })
    await admin.run('namespaces', 'create', 'globex')
    await ada.run('invite', 'accept', codeIn(await admin.run('invite', '--namespace', 'globex', '--json')))
    await ada.run('switch', 'acme')
    await admin.run('members', 'remove', user.id, '--namespace', 'ada', '--yes')
    await remove()

    assert.match((await ada.run('ls')).err, 'you are no longer in @acme: going on in @globex\n')
    for (const words of [
      ['sync', '--json'],
      ['sync', '--watch'],
      ['sync', '--dry-run'],
    ]) {
      const refused = await ada.run(...words)
      assert.is(refused.how, 2, words.join(' '))
      assert.match(refused.out + refused.err, 'you are no longer in @acme, and nothing is uploaded to @globex')
    }
    assert.is((await ada.run('switch', 'globex')).how, 0)
    assert.equal(sentTo(await ada.run('sync', '--json')), ['globex', 'globex'])

    await admin.run('members', 'remove', user.id, '--namespace', 'globex', '--yes')
    const none = await ada.run('sync')
    assert.is(none.how, 1)
    assert.match(none.err, 'you are no longer in @globex, and you are not a member of any namespace')
  }))

test('is told by the commands that name the namespace', () =>
  inTeam(async ({ ada, remove }) => {
    cpSync(fixtures, ada.claude, { recursive: true })
    assert.equal(sentTo(await ada.run('sync', '--namespace', 'acme', '--json')), ['acme', 'acme'])
    await remove()
    for (const words of [
      ['ls', '--namespace', 'acme'],
      ['ls', '--namespace', ' ACME ', '--json'],
      ['sync', '--namespace', 'acme', '--force'],
      ['members', '--namespace', 'acme'],
      ['usage', '--namespace', 'acme'],
      ['search', 'parser', '--namespace', 'acme'],
      ['tail', '--namespace', 'acme'],
      ['switch', 'acme'],
    ]) {
      const { how, out, err } = await ada.run(...words)
      assert.is(how, 2, `${words.join(' ')}: ${out}${err}`)
      assert.match(out + err, 'you are no longer in @acme. Ask one of its admins for an invite', words.join(' '))
    }
    const published = await ada.run('ls', '--public', '--namespace', 'acme')
    assert.equal([published.how, published.err], [0, 'There are no public traces in the namespace "acme".\n'])
    assert.match((await ada.run('ls', '--namespace', 'nowhere')).err, 'There is no namespace "nowhere"')
    assert.is((await ada.run('ls')).err.includes('no longer'), false, 'its login was never there')
  }))

test('nothing of a project that a rule sends to the namespace goes to another one', () =>
  inTeam(async ({ ada, remove }) => {
    cpSync(fixtures, ada.claude, { recursive: true })
    writeFileSync(join(ada.config, 'tracebook.json'), '{"projects": [{"path": "/w/app", "namespace": "acme"}]}')
    assert.equal(sentTo(await ada.run('sync', '--json')), ['acme', 'acme'])
    await remove()
    for (const more of [[], ['--force']]) {
      const refused = await ada.run('sync', '--json', ...more)
      const problems = documents(refused).flatMap(({ type, message }) => (type === 'problem' ? [message] : []))
      assert.equal([refused.how, problems.length], [1, 2])
      for (const problem of problems)
        assert.match(
          String(problem),
          /tracebook\.json: you are no longer in @acme\. Ask one of its admins for an invite/,
        )
    }
    assert.is((await ada.run('ls', '--json')).out, '')
  }))

test.run()
