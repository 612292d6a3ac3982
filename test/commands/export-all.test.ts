import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { inWorld } from './support/world.ts'

const test = suite('exporting all sessions')

test('each trace of the user becomes a file, and a second export writes only changed traces', () =>
  inWorld(async ({ folder, user, putTrace }) => {
    const into = join(folder, 'new', 'backup')
    for (const id of ['first', 'second', '../Third/\u202e']) await putTrace(user, id, { title: id }, ['Hello'])
    const { how, out, err } = await user.run('export', '--all', into)
    assert.equal([how, err], [0, ''])
    const names = readdirSync(into).sort()
    assert.is(names.length, 3)
    assert.match(names[0]!, /^_Third_-[0-9a-f]{16}\.md$/)
    assert.equal(names.slice(1), ['first.md', 'second.md'])
    assert.match(readFileSync(join(into, 'first.md'), 'utf8'), /^# first\n/)
    assert.is(statSync(join(into, 'first.md')).mode & 0o777, 0o600)
    assert.ok(out.endsWith(`exported 3 sessions to ${into}\n`), out)

    assert.is(
      (await user.run('export', '--all', into)).out,
      `exported 0 sessions to ${into}, skipped 3 sessions, unchanged since the last export\n`,
    )
    await putTrace(user, 'second', { title: 'changed' })
    const { documents } = await runJson(user, 'export', '--all', into)
    const [written, summary] = documents
    assert.equal([written!['externalId'], written!['file'], documents.length], ['second', join(into, 'second.md'), 2])
    assert.equal(summary, { type: 'summary', exported: 1, skipped: 2, failed: 0, others: 0, exitCode: 0 })
    assert.match(readFileSync(join(into, 'second.md'), 'utf8'), /^# changed\n/)

    await user.run('export', '--all', into, '--format', 'json')
    assert.is(JSON.parse(readFileSync(join(into, 'first.json'), 'utf8')).trace.title, 'first')
    for (const more of [['first'], ['-o', 'x'], ['--at', '0']])
      assert.is((await user.run('export', ...more, '--all', into)).how, 2, more.join(' '))
    assert.is((await user.run('export')).how, 2)
    assert.is((await user.run('export', '--all', join(into, 'first.md'))).how, 2)
  }))

test('a member exports their own traces of a team, an admin all; failures are reported, and the rest is written', () =>
  inWorld(async ({ url, folder, user, newUser, putTrace }) => {
    const token = tokenIn(user.config)
    await ask(url, '/v1/namespaces', { token, method: 'POST', body: { slug: 'team', displayName: 'Team' } })
    const path = '/v1/namespaces/team/invites'
    const { invite } = await ask<{ invite: { code: string } }>(url, path, { token, method: 'POST', body: {} })
    const bob = await newUser('bob')
    await bob.run('invite', 'accept', invite.code)
    for (const [one, id] of [
      [user, 'of-ada'],
      [bob, 'of-bob'],
    ] as const) {
      await one.run('switch', 'team')
      await putTrace(one, id, {}, ['Hello'])
    }
    const [all, own] = [join(folder, 'all'), join(folder, 'own')]
    const { documents } = await runJson(bob, 'export', '--all', own, '--namespace', 'team')
    assert.equal(documents.at(-1), { type: 'summary', exported: 1, skipped: 0, failed: 0, others: 1, exitCode: 0 })
    assert.equal(readdirSync(own), ['of-bob.md'])
    await user.run('export', '--all', all)
    assert.equal(readdirSync(all).sort(), ['of-ada.md', 'of-bob.md'])
    assert.match(
      (await bob.run('export', '--all', own, '--namespace', 'none')).err,
      'You are a member of no namespace "none"',
    )

    rmSync(join(all, 'of-bob.md'))
    mkdirSync(join(all, 'of-bob.md', 'in-the-way'), { recursive: true })
    rmSync(join(all, 'of-ada.md'))
    const failed = await user.run('export', '--all', all)
    assert.is(failed.how, 1)
    assert.match(failed.err, /^of-bob was not exported: /)
    assert.match(failed.out, `exported 1 session to ${all}, 1 session failed\n`)
    assert.ok(existsSync(join(all, 'of-ada.md')))
  }))

test.run()
