import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { hasTerminals, runOnTerminal } from './support/processes.ts'
import type { User } from './support/user.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('tracebook namespaces, invite and members')

const codeIn = (out: string): string => {
  const code = /^npx --yes http:\S+\/client\/tracebook-[\d.]+\.tgz invite accept (\w{9}) --server http:\S+\n$/.exec(
    out,
  )?.[1]
  assert.ok(code, out)
  return code!
}

const idOf = async (url: string, { config }: User): Promise<string> =>
  (await ask<{ user: { id: string } }>(url, '/v1/session', { token: tokenIn(config) })).user.id

test('a namespace is made and filled by invites; roles are changed, members leave', () =>
  inOwnWorld(async ({ url, user, newUser }) => {
    const bob = await newUser('bob')
    const [ada, his] = [await idOf(url, user), await idOf(url, bob)]
    await ask(url, '/v1/user', { token: tokenIn(bob.config), method: 'PATCH', body: { displayName: 'Bob\u202e' } })

    assert.match(
      (await user.run('namespaces', 'create', 'Team', '--name', 'Our team')).out,
      'Created the namespace "team"',
    )
    const reserved = await user.run('namespaces', 'create', 'admin')
    assert.equal([reserved.how, reserved.err.includes('"admin" is not a valid slug')], [2, true])
    assert.match((await user.run('namespaces', 'create', 'team')).err, 'slug is taken')
    const renamed = await runJson(user, 'namespaces', 'rename', 'team', 'The team')
    assert.is((renamed.documents[0]!['namespace'] as { displayName: string }).displayName, 'The team')
    const { documents } = await runJson(user, 'namespaces')
    assert.equal(documents.length, 2)
    assert.match((await user.run('namespaces')).out, /\n\* +user-\S+ .*\n +team +The team +org +admin\n$/)

    const code = codeIn((await user.run('invite', '--namespace', 'team')).out)
    assert.match((await user.run('invite', 'ls', '--namespace', 'team')).out, new RegExp(`\n${code} +member +pending`))
    const [stranger, unknown] = [
      await bob.run('members', '--namespace', 'team'),
      await bob.run('members', '--namespace', 'nowhere'),
    ]
    assert.equal([stranger.how, unknown.how], [1, 2])
    assert.match(stranger.err, 'You may not see who its members are in the namespace "team"')
    assert.match(unknown.err, 'There is no namespace "nowhere"')
    const joined = await bob.run('invite', 'accept', `${url}/invite/${code}`)
    assert.is(joined.out, 'You are a member of The team ("team").\n')
    assert.match((await bob.run('invite', '--namespace', 'team')).err, 'You may not invite others')
    assert.match((await bob.run('invite', 'accept', 'x00000000')).err, 'There is no invite x00000000')
    assert.match((await user.run('invite', 'ls', '--namespace', 'team')).err, 'There is no open invite to "team"')
    assert.is((await runJson(user, 'invite', 'ls', '--namespace', 'team', '--all')).documents.length, 1)

    const many = await runJson(user, 'invite', '--namespace', 'team', '--uses', '0', '--role', 'admin')
    const { code: other, maxUses, role } = many.documents[0]!['invite'] as Record<string, unknown>
    assert.equal([maxUses, role], [0, 'admin'])
    assert.is((await runJson(user, 'invite', 'revoke', String(other), '--namespace', 'team')).how, 0)
    const carol = await newUser('carol')
    assert.match(
      (await carol.run('invite', 'accept', String(other))).err,
      'Ask an admin of the namespace for another invite',
    )
    assert.is((await user.run('invite', '--email', 'no address')).how, 2)

    const members = await user.run('members', '--namespace', 'team')
    assert.match(members.out, new RegExp(`\n- +admin +.* ${ada}\nBob\\\\u202e +member +.* ${his}\n$`))
    assert.match(
      (await user.run('members', 'role', ada, 'member', '--namespace', 'team')).err,
      'Make another member an admin',
    )
    const promoted = await runJson(user, 'members', 'role', his.slice(0, 8), 'admin', '--namespace', 'team')
    assert.is((promoted.documents[0]!['member'] as { role: string }).role, 'admin')
    assert.match((await user.run('members', 'remove', 'Nobody', '--namespace', 'team')).err, 'has no member "Nobody"')

    const refused = await bob.run('members', 'remove', ada, '--namespace', 'team')
    assert.equal([refused.how, refused.err.includes('--yes')], [2, true])
    if (hasTerminals) {
      const no = await runOnTerminal(bob, { input: 'n' }, 'members', 'remove', ada, '--namespace', 'team')
      assert.equal([no.how, no.out.includes('nothing was changed')], [2, true])
    }
    const removed = await runJson(bob, 'members', 'remove', ada, '--yes', '--namespace', 'team')
    assert.equal(removed.documents, [{ type: 'removed', namespace: 'team', userId: ada }])
    assert.is((await user.run('members', '--namespace', 'team')).how, 1)
  }))

test.run()
