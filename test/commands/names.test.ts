import { hostname } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { hasTerminals, runOnTerminal } from './support/processes.ts'
import type { User } from './support/user.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('who is who in a team')

type Me = { readonly user: { readonly id: string; readonly displayName?: string }; readonly session: object }
const me = (url: string, { config }: User) => ask<Me>(url, '/v1/session', { token: tokenIn(config) })

const newTeam = async (url: string, { config }: User): Promise<() => Promise<string>> => {
  const token = tokenIn(config)
  await ask(url, '/v1/namespaces', { token, method: 'POST', body: { slug: 'team', displayName: 'Team' } })
  return async () => {
    const path = '/v1/namespaces/team/invites'
    const { invite } = await ask<{ invite: { code: string } }>(url, path, { token, method: 'POST', body: {} })
    return invite.code
  }
}

test('a user takes a name with the login, or later, and is called so', () =>
  inOwnWorld(async ({ url, user }) => {
    const { id } = (await me(url, user)).user
    assert.match((await user.run('whoami')).out, /\nno name yet; to set one, run: .*tracebook whoami --set-name NAME\n/)
    const named = await user.run('login', '--name', ' Ada Lovelace ')
    assert.match(named.out, `Logged in to ${url} as Ada Lovelace (user ${id}), namespace `)
    const shown = await user.run('whoami')
    assert.ok(shown.out.startsWith(`Ada Lovelace (user ${id}) at ${url}\n`), shown.out)
    assert.not.match(shown.out, 'no name yet')
    const { documents } = await runJson(user, 'whoami', '--set-name', 'Ada')
    assert.equal(documents[0]!['user'], { id, displayName: 'Ada' })
    const [empty, long] = [
      await user.run('whoami', '--set-name', ' '),
      await user.run('whoami', '--set-name', 'x'.repeat(257)),
    ]
    assert.equal([empty.how, long.how], [2, 2])
    assert.match(long.err, 'at most 256 characters')
    assert.is((await me(url, user)).user.displayName, 'Ada')
  }))

test('a list of a team says who has uploaded each trace', () =>
  inOwnWorld(async ({ url, user, newUser, putTrace }) => {
    const newInvite = await newTeam(url, user)
    const bob = await newUser('bob')
    await user.run('whoami', '--set-name', 'Ada')
    await bob.run('invite', 'accept', await newInvite())
    for (const [one, id] of [
      [user, 'of-ada'],
      [bob, 'of-bob'],
    ] as const) {
      await one.run('switch', 'team')
      await putTrace(one, id)
    }
    const bobsId = (await me(url, bob)).user.id
    const rows = new RegExp(
      `^when +title +author +project .*\n.* - +${bobsId.slice(0, 8)} +-.* of-bob\n.* - +Ada +-.* of-ada\n$`,
    )
    assert.match((await user.run('ls', '--namespace', 'team')).out, rows)
    assert.match((await bob.run('ls')).out, rows)
    const { documents } = await runJson(bob, 'ls')
    assert.is((documents[0]!['trace'] as { createdBy: string }).createdBy, bobsId)
    const carol = await newUser('carol')
    await putTrace(carol, 'of-carol')
    assert.not.match((await carol.run('ls')).out, 'author')
  }))

test('a device is called as its host is, until it is renamed', () =>
  inOwnWorld(async ({ url, user, newUser }) => {
    assert.match((await user.run('devices')).out, `  device (${hostname()}): 1 session`)
    const { documents } = await runJson(user, 'devices', 'list')
    const id = String(documents[0]!['id'])
    const renamed = await user.run('devices', 'rename', id.slice(0, 8), 'my laptop')
    assert.equal(renamed, { how: 0, out: `Renamed device (${hostname()}) to "my laptop".\n`, err: '' })
    assert.match((await user.run('devices')).out, '  device (my laptop): 1 session')
    assert.match((await user.run('whoami')).out, '\ndevice my laptop\n')
    assert.equal((await runJson(user, 'devices', 'rename', id, 'laptop')).documents, [
      { type: 'renamed', id, name: 'laptop' },
    ])
    assert.is((await runJson(user, 'devices', 'list')).documents[0]!['name'], 'laptop')
    const stranger = await newUser('bob')
    assert.is((await stranger.run('devices', 'rename', id, 'mine')).how, 2)
    assert.is((await user.run('devices', 'rename', id, '')).how, 2)
    assert.is((await me(url, user)).user.displayName, undefined)
  }))

if (!hasTerminals) console.log('skipped: there is no `script` of util-linux to run a command in a terminal')
else
  test('a user who joins a team on a terminal is asked for a name once, and may give none', () =>
    inOwnWorld(async ({ url, user, newUser }) => {
      const newInvite = await newTeam(url, user)
      const [bob, carol] = [await newUser('bob'), await newUser('carol')]
      const question = 'Your name, as other members see it'
      const joined = await runOnTerminal(bob, { input: ' Bob ', question }, 'invite', 'accept', await newInvite())
      assert.is(joined.how, 0)
      assert.is((await me(url, bob)).user.displayName, 'Bob')
      const again = await runOnTerminal(bob, {}, 'invite', 'accept', await newInvite())
      assert.equal([again.how, again.out.includes(question)], [0, false])
      const none = await runOnTerminal(carol, { input: ' ', question }, 'invite', 'accept', await newInvite())
      assert.equal([none.how, none.out.includes('whoami --set-name NAME')], [0, true])
      assert.is((await me(url, carol)).user.displayName, undefined)
      const scripted = await runOnTerminal(carol, {}, 'invite', 'accept', await newInvite(), '--json')
      assert.not.match(scripted.out, question)
      await runOnTerminal(carol, { input: 'Carol', question }, 'login', '--invite', await newInvite())
      assert.is((await me(url, carol)).user.displayName, 'Carol')
    }))

test.run()
