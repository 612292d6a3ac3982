import { once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../../support/until.ts'
import { ask, tokenIn } from '../support/api.ts'
import { start } from '../support/processes.ts'
import type { User } from '../support/user.ts'
import { inOwnWorld } from '../support/world.ts'
import { startFollowing } from './support/following.ts'

const test = suite('tracebook audit log')
const RED = '\u001b[31m'

type Entry = { revision: number; type: string; at: number; text: string; trace?: { externalId: string } }

const put = (url: string, token: string, path: string, body: object) =>
  ask(url, `/v1/traces/${path}`, { token, method: 'PUT', body })

const entriesIn = (out: string) => out.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Entry) // prettier-ignore

const listed = async (user: User, ...words: string[]) => {
  const { how, out, err } = await user.run('audit', 'log', '--json', ...words)
  assert.equal([how, err], [0, ''])
  return entriesIn(out)
}

const sent = (user: User) => tokenIn(user.config)

test('lists who did what to a trace and in a namespace, page by page, with filters', () =>
  inOwnWorld(async ({ url, user, newMachine }) => {
    assert.match((await newMachine('stranger').run('audit', 'log')).err, 'Not logged in')
    const token = sent(user)
    const { user: me } = await ask<{ user: { id: string } }>(url, '/v1/session', { token })
    for (let i = 0; i < 150; i++) await put(url, token, 't', { title: `${RED}${i}` })
    await put(url, token, 't/messages/m', { role: 'user' })
    await put(url, token, 'other', { visibility: 'public' })

    const all = await listed(user, 't')
    assert.equal([all.length, new Set(all.map(({ revision }) => revision)).size], [151, 151], 'over pages')
    assert.is(all[0]!.type, 'TraceCreated')
    const newest = await listed(user, 't', '--desc', '--limit', '120')
    assert.equal(newest, all.toReversed().slice(0, 120))
    assert.equal(await listed(user, 't', '--type', 'TraceCreated,MessagesUpserted'), [all[0]!, all.at(-1)!])
    const [from, to] = [String(all.at(-1)!.at), new Date(all.at(-1)!.at + 1).toISOString()]
    assert.equal((await listed(user, 't', '--from', from, '--to', to)).at(-1), all.at(-1))
    assert.equal(await listed(user, 't', '--actor', me.id), all)
    assert.equal(await listed(user, 't', '--actor', 'nobody'), [])

    const own = await listed(user)
    assert.is(own.filter(({ trace }) => trace?.externalId === 't').length, 151)
    assert.equal([own[0]!.type, own.at(-1)!.trace?.externalId], ['NamespaceCreated', 'other'])
    const { how, out, err } = await user.run('audit', 'log', '--desc', '--limit', '3')
    assert.equal([how, err], [0, ''], out)
    assert.match(
      out,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d {2} +@\d+ {2}.* {2}other +.* created the trace/,
    )
    assert.match(out, /\n.*1 message added by /)
    assert.not.match(out, '\u001b')
  }))

test('each entry that comes is shown once, through a restart of the service', () =>
  inOwnWorld(async ({ url, user, restart }) => {
    const token = sent(user)
    await put(url, token, 't', { title: 'first' })
    await put(url, token, 't', { title: 'second' })
    const one = startFollowing(user, 'audit', 'log', 't', '--follow', '--json', '--limit', '1')
    const all = startFollowing(user, 'audit', 'log', '--follow', '--json')
    await until(() => one.out().includes('second') && all.out().includes('second'))
    assert.not.match(one.out(), 'first')
    await put(url, token, 't', { title: 'third' })
    await until(() => one.out().includes('third') && all.out().includes('third'))

    await restart()
    await put(url, token, 't/messages/m', { role: 'user' })
    await ask(url, '/v1/traces/t', { token, method: 'DELETE' })
    await until(() => one.err().includes('The trace was deleted') && all.out().includes('TraceDeleted'))
    await put(url, token, 't', { title: 'again' })
    await until(() => one.out().includes('again') && all.out().includes('again'))
    const keys = (out: string) =>
      entriesIn(out).map(({ revision, at, trace }) => `${trace?.externalId} ${revision} ${at}`)
    for (const { out } of [one, all]) assert.is(new Set(keys(out())).size, keys(out()).length, 'nothing twice')

    await ask(url, '/v1/session', { token, method: 'DELETE' })
    const { how, out } = await one.ended
    assert.is(how, 2)
    assert.match(out, /"type":"error","message":"Your session at .* has ended\. Log in again: /)
    assert.is((await all.ended).how, 2)
  }))

test('ends with 0 by Ctrl-C, and without a word when its reader has gone', () =>
  inOwnWorld(async ({ user }) => {
    const following = startFollowing(user, 'audit', 'log', '-f')
    await until(() => following.out().includes('created the namespace'))
    assert.is((await following.end()).how, 0)
    const { child, ended } = start(['audit', 'log'], user.variables)
    ended.catch(() => {}) // its stdout is not read to the end
    child.stdout!.destroy()
    await once(child, 'exit')
    assert.equal([child.exitCode, child.signalCode], [0, null])
  }))

test('a refusal says what to do', () =>
  inOwnWorld(async ({ url, user: ada, newUser }) => {
    const bob = await newUser('bob')
    await put(url, sent(ada), 'open', { visibility: 'public' })
    const refused = async (user: User, ...words: string[]) => {
      const { how, out, err } = await user.run('audit', 'log', ...words)
      assert.is(out, '')
      return [how, err] as const
    }
    const [none, sentence] = await refused(ada, 'nope')
    assert.is(none, 2)
    assert.match(sentence, 'There is no trace "nope" that you may read')
    const [stranger, why] = await refused(bob, 'open')
    assert.is(stranger, 1)
    assert.match(why, 'Only members of its namespace may see the history of the trace "open"')
    const { session } = await ask<{ session: { namespaceSlug: string } }>(url, '/v1/session', { token: sent(ada) })
    assert.match((await refused(bob, '--namespace', session.namespaceSlug))[1], 'You are not a member')
    const { invite } = await ask<{ invite: { code: string } }>(url, `/v1/namespaces/${session.namespaceSlug}/invites`, {
      token: sent(ada),
      method: 'POST',
      body: {},
    })
    await ask(url, `/v1/invites/${invite.code}/accept`, { token: sent(bob), method: 'POST' })
    const [member, whom] = await refused(bob, '--namespace', session.namespaceSlug)
    assert.is(member, 1)
    assert.match(whom, 'The timeline of a namespace is for its admins')
    assert.is((await bob.run('audit', 'log', 'open')).how, 0)
    for (const words of [
      ['--type', 'Nothing'],
      ['--from', 'noon'],
      ['--limit', 'x'],
      ['--follow', '--desc'],
    ])
      assert.is((await refused(ada, ...words))[0], 2, words.join(' '))
  }))

test.run()
