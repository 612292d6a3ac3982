import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { digest } from '../../src/client/digest.ts'
import { allCredentials, type Credentials } from '../../src/client/login/credentials.ts'
import type { NewApiClient } from '../../src/client/api/client.ts'
import { realTiming } from '../../src/client/api/retry.ts'
import { logInAtNewAddress } from '../../src/client/login/moved-login.ts'
import { openTrust } from '../../src/client/rules/trust.ts'
import { onServer } from '../support/database.ts'
import { runCommand } from '../support/run-command.ts'
import { newEmptyWorld, newWorld } from '../support/world.ts'
import { ask } from './support/api.ts'
import { startProxy } from './support/proxy.ts'
import { type Ended, type User, inTemporary, newUser } from './support/user.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('a service at a new address')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')

/** Runs a command on a terminal, where it is answered. */
const onTerminal = ({ variables }: User, input: string, ...words: readonly string[]) =>
  runCommand(words, variables, { input: `${input}\n`, isTerminal: true })

/** The credentials and settings of a user, by the names of their files. */
const filesOf = ({ config }: User) =>
  readdirSync(config, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('data'))
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')])
    .sort()

/** The devices of the user, and how many sessions each has. */
const devicesOf = async (user: User) =>
  (await user.run('devices', '--json')).out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; sessions: number })
    .map(({ id, sessions }) => [id, sessions])

const userOf = async (ended: Promise<Ended>): Promise<unknown> => {
  const { how, out, err } = await ended
  assert.is(how, 0, err)
  return (JSON.parse(out) as { user: { id: unknown } }).user.id
}

/** Runs work with a service that is reached at two addresses, and a user who has uploaded sessions to the first one. */
const inMovedWorld = (
  work: (world: { old: string; moved: string; user: User; stop: () => Promise<void> }) => Promise<unknown>,
) =>
  inOwnWorld(async ({ url, user, stop }) => {
    const proxy = await startProxy(url)
    try {
      cpSync(fixtures, user.claude, { recursive: true })
      assert.match((await user.run('sync')).out, /synced 2 sessions: 6 messages/)
      const variables = { ...user.variables, TRACEBOOK_URL: '' }
      const run = (...words: readonly string[]) => runCommand(words, variables)
      await work({ old: url, moved: proxy.url, user: { ...user, variables, run }, stop })
    } finally {
      await proxy.close()
    }
  })

const sendsNothing: NewApiClient = () => {
  throw new Error('a request was sent')
}

test('without a terminal, a login at a new address says which commands join the user there, and makes nothing', () =>
  inMovedWorld(async ({ old, user }) => {
    const [before, known] = [filesOf(user), allCredentials(user.config)]
    const moved = 'https://moved.example'
    const place = { config: user.config, server: moved, log: known[0]!.log! }
    const login = logInAtNewAddress({ ...place, known, confirm: undefined }, sendsNothing, realTiming)
    const error = await login.then(() => 'no error', String)
    assert.match(error, `${moved} says that it has the log of ${old}, where you are user `)
    assert.match(error, new RegExp(`devices add --server ${old}\n.* login --join CODE --server ${moved}\n`))
    assert.equal(filesOf(user), before)
  }))

test('without a terminal, an address of this machine is joined beside the known one', () =>
  inMovedWorld(async ({ old, moved, user }) => {
    const [id, stored] = [await userOf(user.run('whoami', '--json')), allCredentials(user.config)[0]!]
    assert.is((await user.run('login', '--server', moved)).how, 0)
    assert.is(await userOf(user.run('whoami', '--server', moved, '--json')), id)
    assert.is((await devicesOf(user)).length, 2)
    const all = allCredentials(user.config)
    assert.equal(
      all.find(({ server }) => server === old),
      stored,
    )
    const [beside] = all.filter(({ server }) => server === moved)
    assert.is.not(beside!.deviceId, stored.deviceId)
    assert.is((await user.run('login', '--server', moved)).how, 0)
    assert.is((await devicesOf(user)).length, 2, 'once more is the same device')
  }))

test('on a terminal the user is asked, and a no makes nothing', () =>
  inMovedWorld(async ({ old, moved, user }) => {
    const [devices, before] = [await devicesOf(user), filesOf(user)]
    const { how, err } = await onTerminal(user, '', 'login', '--server', moved)
    assert.is(how, 2)
    assert.match(err, `Is it the same service, at another address?`)
    assert.match(err, `Whoever runs ${moved} can act as you afterwards.`)
    assert.match(err, 'Not confirmed: nothing was made.')
    assert.equal(filesOf(user), before)
    assert.equal(await devicesOf(user), devices)
    assert.is(await userOf(user.run('whoami', '--server', old, '--json')), await userOf(user.run('whoami', '--json')))
  }))

test('after a yes the machine is the same user there, nothing is uploaded again, and what was stored holds', () =>
  inMovedWorld(async ({ old, moved, user }) => {
    const id = await userOf(user.run('whoami', '--json'))
    const deviceId = allCredentials(user.config)[0]!.deviceId
    const rule = { place: '.tracebook.json', rule: {}, stranger: { anchor: 'a', hash: 'h' } }
    await openTrust(user.config, old).add(rule)
    const { how, out, err } = await onTerminal(user, 'y', 'login', '--server', moved)
    assert.is(how, 0, err)
    assert.match(out, `Logged in to ${moved} as user ${String(id)}`)
    assert.match(err, `commands for it go there`)
    assert.is(await userOf(user.run('whoami', '--json')), id)
    assert.is((await user.run('sync')).out, 'nothing was sent: 2 sessions unchanged\n')
    assert.ok((await openTrust(user.config, moved).current())(rule))
    const [stored, ...others] = allCredentials(user.config)
    assert.equal([stored!.server, stored!.formerly, others], [moved, [old], []])
    assert.is.not(stored!.deviceId, deviceId)
  }))

test('commands that name the former address, as watches, hooks and agents do, go to the new one', () =>
  inMovedWorld(async ({ old, moved, user, stop }) => {
    assert.is((await onTerminal(user, 'y', 'login', '--server', moved)).how, 0)
    const { server } = JSON.parse((await user.run('whoami', '--server', old, '--json')).out) as { server: string }
    assert.is(server, moved)
    assert.match((await user.run('sync', '--server', old)).out, 'nothing was sent: 2 sessions unchanged')
    await stop()
  }))

test('without a terminal, a code that was made at the former address moves the records as well', () =>
  inMovedWorld(async ({ old, moved, user }) => {
    const { code } = JSON.parse((await user.run('devices', 'add', '--json')).out) as { code: string }
    const joined = await user.run('login', '--join', code, '--server', moved)
    assert.is(joined.how, 0, joined.err)
    assert.equal(
      allCredentials(user.config).map(({ server, formerly }) => [server, formerly]),
      [[moved, [old]]],
    )
    assert.is((await user.run('sync')).out, 'nothing was sent: 2 sessions unchanged\n')
  }))

test('if the former address is gone, it is said what can be done, and nothing is made', () =>
  inMovedWorld(async ({ old, moved, user }) => {
    const [credentials] = allCredentials(user.config)
    const gone = 'http://127.0.0.1:1'
    const file = join(user.config, 'servers', readdirSync(join(user.config, 'servers'))[0]!)
    writeFileSync(file, JSON.stringify({ ...credentials, server: gone }))
    const before = filesOf(user)
    const { how, err } = await onTerminal(user, 'y', 'login', '--server', moved)
    assert.is(how, 2)
    assert.match(err, `${moved} says that it has the log of ${gone}`)
    assert.match(err, /that address does not answer .*no one-time code can be made there: nothing was made/)
    assert.match(err, `login --join CODE --server ${moved}`)
    assert.equal(filesOf(user), before)
    const { token } = credentials!.login!
    assert.is((await ask<{ identities: unknown[] }>(old, '/v1/user/identities', { token })).identities.length, 1)
  }))

/** Puts a login in the place of all others, under the name that it had. */
const replaceLogin = (config: string, login: Credentials): void => {
  const folder = join(config, 'servers')
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  writeFileSync(join(folder, `${digest(login.name ?? login.server)}.json`), JSON.stringify(login))
}

test('a login of an earlier version is recognised, too', () =>
  inMovedWorld(async ({ old, moved, user }) => {
    const { log, name, ...older } = allCredentials(user.config)[0]!
    assert.is(name, log)
    replaceLogin(user.config, older)
    const { how, err } = await onTerminal(user, '', 'login', '--server', moved)
    assert.is(how, 2)
    assert.match(err, `${moved} says that it has the log of ${old}`)
  }))

test('another service that says it has the log gets neither the token nor the device id, and not the records', () =>
  inMovedWorld(async ({ old, user }) => {
    const [stored] = allCredentials(user.config)
    const heard: string[] = []
    const identityId = '0192f0c1-2b3d-4e4f-8a5b-6c7d8e9f0a1b'
    const { userId, namespaceId, namespaceSlug } = stored!.login!
    const session = { id: 's', userId, identityId, token: 'tb_x', namespaceId, namespaceSlug }
    const liar = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += String(piece)
      heard.push(`${JSON.stringify(request.headers)} ${body}`)
      const data = request.url === '/v1/service' ? { log: stored!.log } : { session, user: { id: userId } }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ok: true, data }))
    })
    await new Promise<void>((listening) => liar.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
    try {
      const words = ['login', '--server', url]
      for (const login of [() => onTerminal(user, 'y', ...words), () => user.run(...words)]) {
        const { how, err } = await login()
        assert.is(how, 2)
        assert.match(err, `your user at ${old} got no device by it: it is another service`)
      }
      for (const secret of [stored!.deviceId, stored!.login!.token]) assert.not.match(heard.join('\n'), secret)
      assert.equal(allCredentials(user.config), [stored])
      const code = '4F7K-9QWE-2M8T-X6RB-0ZHA'
      await user.run('login', '--join', code, '--server', url)
      assert.is((await user.run('whoami', '--server', old, '--json')).how, 0)
      assert.equal(
        allCredentials(user.config).find(({ server }) => server === old),
        stored,
        'a code of its own does not move them, either',
      )
    } finally {
      liar.close()
      liar.closeAllConnections()
    }
  }))

test('an address with another log than before is refused until the user says which of both it is', () =>
  inTemporary(async (folder) => {
    const env = { SUMMARY_PROVIDER: 'none' }
    const [first, second] = [await newWorld({ env }), await newEmptyWorld({ env })]
    await onServer(second.database.url, 'update log.identity set id = gen_random_uuid()') // both are copies of one
    await onServer(second.database.url, 'delete from tracebook.followed_log')
    try {
      const url = await first.node.app.listen({ host: '127.0.0.1', port: 0 })
      const user = newUser(folder, url)
      assert.is((await user.run('login')).how, 0)
      const before = allCredentials(user.config)[0]!
      await first.node.close()
      const running = await second.openNode()
      await running.app.listen({ host: '127.0.0.1', port: Number(new URL(url).port) })
      const { log } = (await running.call('GET', '/v1/service')).data as { log: string }

      const files = filesOf(user)
      const { how, err } = await onTerminal(user, 'y', 'login')
      assert.is(how, 2)
      assert.match(err, `${url} had the log ${before.log}, where you are user ${before.login!.userId},`)
      assert.match(
        err,
        `has the log ${log} now: another service answers there, or its data were replaced. Nothing was made.`,
      )
      assert.equal(filesOf(user), files)

      const renewed = await user.run('login', '--new-device')
      assert.is(renewed.how, 0, renewed.err)
      const [fresh] = allCredentials(user.config)
      assert.is.not(fresh!.deviceId, before.deviceId)
      assert.match(renewed.err, 'The former device id of this machine was saved in')

      replaceLogin(user.config, before)
      const accepted = await user.run('login', '--accept-log', log)
      assert.is(accepted.how, 0, accepted.err)
      assert.equal(
        [allCredentials(user.config)[0]!.deviceId, allCredentials(user.config)[0]!.log],
        [before.deviceId, log],
      )
    } finally {
      for (const { close } of [first, second]) await close()
    }
  }))

test('the service says at its known address which address is its public one', () =>
  inTemporary(async (folder) => {
    const proxy = await startProxy('')
    proxy.target(undefined)
    const { node, close } = await newWorld({ env: { SUMMARY_PROVIDER: 'none', PUBLIC_URL: `${proxy.url}/` } })
    try {
      const old = await node.app.listen({ host: '127.0.0.1', port: 0 })
      proxy.target(old)
      const user = newUser(folder, old)
      assert.is((await user.run('login')).how, 0)
      const { err } = await onTerminal(user, 'n', 'login', '--server', proxy.url)
      assert.match(err, `${old} confirms that this is its public address.`)
      assert.not.match(err, 'can act as you')
      const other = await startProxy(old)
      const asked = await onTerminal(user, 'n', 'login', '--server', other.url)
      assert.match(asked.err, `${old} says that its public address is another one: ${proxy.url}\n`)
      assert.match(asked.err, 'can act as you')
      await other.close()
    } finally {
      await proxy.close()
      await close()
    }
  }))

test.run()
