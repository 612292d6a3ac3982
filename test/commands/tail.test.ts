import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { ask, tokenIn } from './support/api.ts'
import { startFollowing } from './audit/support/following.ts'
import { inOwnWorld, inWorld } from './support/world.ts'

const test = suite('tail against the service')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')
/** An integer that a double cannot hold. */
const LARGE = '12345678901234567890'
const session = '5e550000-0000-4000-8000-000000000001'

test('tail shows a sync that runs at the same time line by line, through a restart of the service', () =>
  inOwnWorld(async ({ url, user, newMachine, restart }) => {
    assert.match((await newMachine('stranger').run('tail')).err, 'Not logged in')
    assert.match((await user.run('tail', '--public', session)).err, '--public')
    const all = startFollowing(user, 'tail')
    const one = startFollowing(user, 'tail', session)
    await until(() => one.err().includes('waiting for it'))
    cpSync(fixtures, user.claude, { recursive: true })
    await user.run('sync')
    await until(() => all.out().includes(`${session}  4 messages`))
    await until(() => one.out().includes('There is one file.'))
    assert.match(
      one.out(),
      / user\n {2}Add a test for the parser\n.* assistant .*\n {2}thinking: Look first.\n {2}> Bash ls\n/,
    )

    await restart()
    const token = tokenIn(user.config)
    const args = { id: (JSON as unknown as { rawJSON(text: string): object }).rawJSON(LARGE) }
    const parts = [
      { type: 'text', content: { text: 'after the restart' } },
      { type: 'tool_call', content: { callId: 'c', toolName: 'look', args } },
    ]
    const body = { role: 'user', order: 99, parts }
    await ask(url, `/v1/traces/${session}/messages/more`, { token, method: 'PUT', body })
    await until(() => one.out().includes('after the restart') && all.out().includes(`${session}  5 messages (+1)`))
    assert.is(one.out().split('There is one file.').length, 2, 'nothing is printed twice')
    assert.match(one.err(), /connection was lost.*\n.*Reconnected/)

    const last = startFollowing(user, 'tail', session, '--json', '-n', '1')
    await until(() => last.out().endsWith('\n'))
    assert.match(last.out(), `"args":{"id":${LARGE}}`)
    assert.is((JSON.parse(last.out()) as { message: { externalId: string } }).message.externalId, 'more')
    for (const tail of [all, one, last]) assert.is((await tail.end()).how, 0)
  }))

test('tail ends when its session ends, whatever it follows', () =>
  inWorld(async ({ url, user }) => {
    const token = tokenIn(user.config)
    for (const [name, visibility] of [
      ['secret', 'private'],
      ['open', 'public'],
    ] as const)
      await ask(url, `/v1/traces/${name}`, { token, method: 'PUT', body: { visibility } })
    for (const name of ['secret', 'open'])
      await ask(url, `/v1/traces/${name}/messages/m`, { token, method: 'PUT', body: { role: 'user' } })
    const tails = [[], ['secret'], ['open'], ['open', '--json']].map((words) => startFollowing(user, 'tail', ...words))
    await until(() => tails.every((tail) => tail.out() !== ''))
    await ask(url, '/v1/session', { token, method: 'DELETE' })
    for (const tail of tails) {
      const { how, out, err } = await tail.ended
      assert.is(how, 2)
      assert.match(out + err, /Your session at .* has ended\. Log in again: /)
    }
  }))

test('tail ends for a member who was removed, and does not follow another namespace instead', () =>
  inWorld(async ({ url, user: owner, newUser }) => {
    const member = await newUser('member')
    const [token, memberToken] = [owner, member].map(({ config }) => tokenIn(config)) as [string, string]
    const { user } = await ask<{ user: { id: string } }>(url, '/v1/session', { token: memberToken })
    for (const hasTraces of [false, true]) {
      const slug = `team-${hasTraces}`
      await ask(url, '/v1/namespaces', { token, method: 'POST', body: { slug, displayName: slug } })
      const path = `/v1/namespaces/${slug}`
      const { invite } = await ask<{ invite: { code: string } }>(url, `${path}/invites`, {
        token,
        method: 'POST',
        body: {},
      })
      await ask(url, `/v1/invites/${invite.code}/accept`, { token: memberToken, method: 'POST' })
      await ask(url, '/v1/session/switch', { token, method: 'POST', body: { slug } })
      await ask(url, `/v1/traces/in-${slug}`, { token, method: 'PUT', body: {} })
      if (hasTraces) await ask(url, '/v1/traces/own', { token: memberToken, method: 'PUT', body: {} })
      const tail = startFollowing(member, 'tail', '--namespace', slug)
      await until(() => tail.out().includes(`in-${slug}`))
      await ask(url, `${path}/members/${user.id}`, { token, method: 'DELETE' })
      const { how, out, err } = await tail.ended
      assert.is(how, 2)
      assert.match(err, `"${slug}" is no longer the active namespace of your session`)
      assert.not.match(out, 'own')
    }
  }))

test.run()
