import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { ask, tokenIn } from './support/api.ts'
import { start } from './support/processes.ts'
import type { Ended, Variables } from './support/user.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('logins and devices against the service')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')

type Document = Readonly<Record<string, unknown>>
const documents = ({ out }: Ended): Document[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Document)
const only = (ended: Ended): Document => {
  const [document, ...more] = documents(ended)
  assert.equal([ended.how, more.length], [0, 0], ended.err + ended.out)
  return document!
}
const credentials = (config: string) => {
  const [name] = readdirSync(join(config, 'servers'))
  return JSON.parse(readFileSync(join(config, 'servers', name!), 'utf8')) as {
    deviceId: string
    login?: { userId: string; namespaceSlug: string }
  }
}

test('a second machine joins with a code, is listed, and is removed again', () =>
  inOwnWorld(async ({ url, newMachine }) => {
    const [first, second, third] = [newMachine('first'), newMachine('second'), newMachine('third')]
    assert.equal((await first.run('devices', 'add')).how, 2)
    await first.run('login')
    const shown = await first.run('devices', 'add')
    assert.is(shown.how, 0)
    const [, code, server] =
      /^\n {2}npx --yes http:\S+\/client\/tracebook-[\d.]+\.tgz login --join (\S+) --server (\S+)\n\n$/.exec(shown.out)!
    assert.is(server, url)
    assert.match(
      shown.err,
      /Run this on the other machine, until .*[\s\S]*address of this machine[\s\S]*keep it to yourself/,
    )

    const joined = await second.run('login', '--join', code!.toLowerCase(), '--json')
    const me = only(await first.run('whoami', '--json'))
    const { id: userId } = me['user'] as { id: string }
    assert.equal(only(joined)['userId'], userId)
    assert.is((await second.run('login')).how, 0)
    assert.is(credentials(second.config).login?.userId, userId)

    const used = await third.run('login', '--join', code!)
    assert.is(used.how, 1)
    assert.match(used.err, /Another machine has used this code\. Make another one .*tracebook devices add\n$/)
    assert.match((await third.run('login', '--join', 'no-code')).err, /does not know this code/)

    const listed = documents(await first.run('devices', '--json'))
    assert.equal(listed.map(({ kind, current }) => [kind, current]).sort(), [
      ['device', false],
      ['device', true],
    ])
    const lines = (await first.run('devices')).out.trimEnd().split('\n')
    assert.is(lines.filter((line) => line.startsWith('* ')).length, 1)
    const other = String(listed.find(({ current }) => !current)!['id'])
    const unasked = await first.run('devices', 'remove', other)
    assert.equal([unasked.how, unasked.out], [2, ''])
    const removed = only(await first.run('devices', 'remove', other.slice(0, 8), '--yes', '--json'))
    assert.equal([removed['type'], removed['id']], ['removed', other])
    const ended = await second.run('whoami')
    assert.is(ended.how, 2)
    assert.match(ended.err, /session at .* has ended. Log in again: /)
    for (const wrong of [other, 'abc', me['server']])
      assert.is((await first.run('devices', 'remove', String(wrong), '--yes')).how, 2)
    const last = await first.run(
      'devices',
      'remove',
      String(documents(await first.run('devices', '--json'))[0]!['id']),
      '--yes',
    )
    assert.is(last.how, 2)
    assert.match(last.err, /only way to sign in/)
  }))

test('a machine with a user of its own joins only as a new device, and keeps the old id aside', () =>
  inOwnWorld(async ({ newMachine }) => {
    const [first, second] = [newMachine('first'), newMachine('second')]
    for (const one of [first, second]) await one.run('login')
    const before = credentials(second.config)
    const code = String(only(await first.run('devices', 'add', '--json'))['code'])
    const refused = await second.run('login', '--join', code)
    assert.is(refused.how, 2)
    assert.match(refused.err, /has a user at .* already[\s\S]*--new-device/)
    assert.equal(credentials(second.config), before)
    assert.is((await second.run('login', '--join', code, '--new-device')).how, 2)
    assert.is((await second.run('login', '--join', 'wrong', '--new-device', '--yes')).how, 2)
    assert.equal(credentials(second.config).login, before.login)

    const joined = await second.run('login', '--join', code, '--new-device', '--yes')
    assert.is(joined.how, 0, joined.err)
    const after = credentials(second.config)
    assert.equal([after.login?.userId, 'joining' in after], [credentials(first.config).login?.userId, false])
    const [, aside] = /was saved in (\S+)/.exec(joined.err)!
    assert.is(JSON.parse(readFileSync(aside!, 'utf8')).deviceId, before.deviceId)
    for (const args of [
      ['--new-device'],
      ['--join', code, '--codehost'],
      ['--join', code, '--invite', 'x'],
      ['--join'],
      ['--join', ''],
    ])
      assert.is((await second.run('login', ...args)).how, 2, args.join(' '))
  }))

test('whoami prints the user, the active namespace, and the token for scripts', () =>
  inOwnWorld(async ({ url, newMachine }) => {
    const user = newMachine('machine')
    for (const command of ['whoami', 'switch', 'token', 'open', 'devices'])
      assert.match((await user.run(command)).err, /Not logged in to http/, command)
    await user.run('login')
    const token = tokenIn(user.config)
    await ask(url, '/v1/user', { token, method: 'PATCH', body: { displayName: 'Ada' } })
    await ask(url, '/v1/namespaces', { token, method: 'POST', body: { slug: 'my-team', displayName: 'Team' } })
    const own = credentials(user.config).login!.namespaceSlug
    assert.match(
      (await user.run('whoami')).out,
      new RegExp(`^Ada \\(user .*\\) at ${url}\nnamespace ${own} \\(admin\\)\n`),
    )

    assert.match((await user.run('switch')).out, new RegExp(`^\\* ${own} .*\n {2}my-team {2}Team \\(admin\\)\n$`))
    assert.match(
      (await user.run('switch', ' My-Team ')).out,
      /^The active namespace at .* is now my-team \(admin\)\.\n$/,
    )
    assert.is(credentials(user.config).login!.namespaceSlug, 'my-team')
    const { namespace } = only(await user.run('whoami', '--json')) as { namespace: { slug: string } }
    assert.is(namespace.slug, 'my-team')
    const active = documents(await user.run('switch', '--json')).filter(({ active }) => active)
    assert.equal(
      active.map((one) => (one['namespace'] as { slug: string }).slug),
      ['my-team'],
    )
    const nowhere = await user.run('switch', 'nowhere')
    assert.is(nowhere.how, 2)
    assert.match(nowhere.err, /There is no namespace "nowhere" at http.*tracebook namespaces/)

    assert.equal(await user.run('token'), { how: 0, out: `${token}\n`, err: '' })
    const inOther = only(await user.run('token', '--namespace', own, '--json'))
    assert.is.not(inOther['token'], token)
    const { session } = await ask<{ session: { namespaceSlug: string } }>(url, '/v1/session', {
      token: String(inOther['token']),
    })
    assert.is(session.namespaceSlug, own)
  }))

test('logging out ends all sessions of the machine, there and here; the next login is the same user', () =>
  inOwnWorld(async ({ url, newMachine }) => {
    const user = newMachine('machine')
    assert.match((await user.run('logout')).out, /^Not logged in to /)
    assert.match((await user.run('logout', '--all')).out, /^Not logged in to any server/)
    await user.run('login')
    const { userId } = credentials(user.config).login!
    await ask(url, '/v1/namespaces', {
      token: tokenIn(user.config),
      method: 'POST',
      body: { slug: 'other', displayName: 'x' },
    })
    const tokens = [tokenIn(user.config), (await user.run('token', '--namespace', 'other')).out.trim()]
    assert.is(only(await user.run('logout', '--all', '--json'))['result'], 'ended')
    assert.not.ok(credentials(user.config).login)
    for (const token of tokens) {
      const { status } = await fetch(`${url}/v1/session`, { headers: { authorization: `Bearer ${token}` } })
      assert.is(status, 401)
    }
    await user.run('login')
    assert.is(credentials(user.config).login!.userId, userId)
    await user.run('devices', 'remove', String(documents(await user.run('devices', '--json'))[0]!['id']), '--yes')
    assert.ok(credentials(user.config).login, 'the only device stays')
  }))

test('status describes the login and the server, also while the server is away', () =>
  inOwnWorld(async ({ url, newMachine }) => {
    const user = newMachine('machine')
    const before = await user.run('status')
    assert.is(before.how, 2)
    assert.match(before.out, /\nlogin {6}not logged in; run: (npx )?tracebook login --server /)
    await user.run('login')
    cpSync(fixtures, user.claude, { recursive: true })
    const there = only(await user.run('status', '--json')) as {
      isDefault: boolean
      service: { is: string; logId: string }
      waiting: { new: number; unchanged: number }
    }
    assert.equal([there.isDefault, there.service.is, there.waiting.new > 0], [true, 'ready', true])
    assert.ok(there.service.logId)
    await user.run('sync')
    const { out } = await user.run('status')
    assert.match(out, new RegExp(`^server {5}${url} \\(default\\)\nservice {4}ready`))
    assert.match(out, /\nsessions {3}2 here: 2 sent\n/)
  }))

test('open signs in a browser, or prints the address where there is none', () =>
  inOwnWorld(async ({ url, user }) => {
    const printed = await user.run('open')
    assert.is(printed.how, 0)
    assert.match(printed.out, new RegExp(`^${url}/v1/auth/browser\\?code=[\\w-]+\n$`))
    assert.match(printed.err, /within 60 seconds/)
    const page = await fetch(printed.out.trim(), { headers: { accept: 'text/html' } })
    assert.match(await page.text(), 'This browser will be signed in as')

    const [browser, seen] = [join(user.config, 'browser'), join(user.config, 'seen')]
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > '${seen}'\n`)
    chmodSync(browser, 0o755)
    // A process of its own, because the browser gets the environment of the process.
    const open = async (variables: Variables, ...words: string[]) => {
      const here = { TRACEBOOK_URL: url, TRACEBOOK_CONFIG_DIR: user.config, XDG_CURRENT_DESKTOP: 'X-Generic' }
      return only(await start(['open', '--json', ...words], { ...here, ...variables }).ended)
    }
    const opened = await open({ BROWSER: browser })
    assert.is(opened['opened'], true)
    await until(() => existsSync(seen))
    assert.is(readFileSync(seen, 'utf8'), opened['url'])
    assert.is((await open({ BROWSER: browser }, '--no-browser'))['opened'], false)
    assert.is((await open({ BROWSER: join(user.config, 'none') }))['opened'], false)
  }))

test('open goes on to a trace; a public one needs no login', () =>
  inOwnWorld(async ({ url, user, newMachine }) => {
    const stranger = newMachine('stranger')
    const token = tokenIn(user.config)
    const { namespaceSlug } = credentials(user.config).login!
    await ask(url, '/v1/traces/to-open', { token, method: 'PUT', body: { title: 'Shown', visibility: 'private' } })
    const { url: page } = only(await user.run('open', 'to-op', '--json', '--no-browser')) as { url: string }
    const answer = await fetch(new URL('/v1/auth/browser', page), {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: new URL(page).origin },
      body: new URLSearchParams({ code: new URL(page).searchParams.get('code')! }),
    })
    const target = answer.headers.get('location')!
    assert.is(target, `${url}/@${namespaceSlug}/to-open`)
    const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
    assert.match(await (await fetch(target, { headers: { cookie } })).text(), 'Shown')

    const toMessage = only(await user.run('open', `${target}?m=a%20b`, '--json', '--no-browser')) as { url: string }
    const code = new URL(toMessage.url).searchParams.get('code')!
    const ofMessage = await fetch(new URL('/v1/auth/browser', page), {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: new URL(page).origin },
      body: new URLSearchParams({ code }),
    })
    assert.is(ofMessage.headers.get('location'), `${target}?m=a%20b`)

    assert.is((await stranger.run('open', target)).how, 2)
    await ask(url, '/v1/traces/to-open', { token, method: 'PATCH', body: { visibility: 'public' } })
    for (const link of [target, `${target}?m=m-1`]) assert.is((await stranger.run('open', link)).out, `${link}\n`)
    assert.is((await user.run('open', '--namespace', namespaceSlug)).how, 2)
  }))

test('while the server is away, status says so, and a logout keeps the tokens unless it is forced', () =>
  inOwnWorld(async ({ url, user, stop }) => {
    await stop()
    const away = await user.run('status', '--json')
    assert.is(away.how, 1)
    const { service: asked, login, waiting } = documents(away)[0]! as Record<string, Record<string, unknown>>
    assert.equal([asked!['is'], asked!['why']], ['out of reach', 'connection refused'])
    assert.ok(login!['namespace'] && !('valid' in login!))
    assert.is(waiting!['new'], 0)
    const refused = await user.run('logout')
    assert.is(refused.how, 1)
    assert.match(refused.err, /Not logged out of .*connection refused[\s\S]*--force/)
    assert.ok(credentials(user.config).login)
    assert.match((await user.run('logout', '--force')).out, /^Removed the tokens of /)
    assert.not.ok(credentials(user.config).login)
    assert.is((await user.run('logout', '--all', '--server', url)).how, 2)
  }))

test.run()
