import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { serverAddress } from '../../../src/client/config.ts'
import { newAccountClient } from '../../../src/client/api/account.ts'
import { connect } from '../../../src/client/login/connect.ts'
import { readCredentials, writeCredentials } from '../../../src/client/login/credentials.ts'
import { logInWithDevice } from '../../../src/client/login/device-login.ts'
import { logInWithCode } from '../../../src/client/login/join-login.ts'
import { STATE_FILE } from '../../../src/client/state/state-file.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { startServer } from '../support/server.ts'
import { ok } from '../support/service-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('logging in')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const refusedWith = async (promise: Promise<unknown>, message: RegExp) =>
  assert.match(((await promise.catch((reason: Error) => reason)) as Error).message, message)

type DeviceBody = { readonly deviceId: string }

const credentials = ({ config, server }: ClientWorld, url = server.url) => readCredentials(config, url)
const refused = async (promise: Promise<unknown>): Promise<string> => {
  const error = (await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )) as Error | undefined
  assert.is(error?.name, 'UsageError')
  return error!.message
}

test('the device id and the user stay the same from login to login', async ({ world }) => {
  const before = await credentials(world)
  const again = await logInWithDevice(world.config, world.server.url, world.api)
  const after = await credentials(world)
  assert.is(after?.deviceId, before?.deviceId)
  assert.is.not(after?.login?.token, before?.login?.token)
  assert.equal(again, { userId: world.user.userId, namespaceSlug: 'user-1' })
  assert.match(after!.deviceId, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
})

test('the device id is stored before it is sent, so that a login after a lost answer leads to the same user', async ({
  world,
}) => {
  const other = await startServer()
  other.fault = () => 'cut after'
  await logInWithDevice(world.config, other.url, world.api).catch(() => {})
  other.fault = () => undefined
  await logInWithDevice(world.config, other.url, world.api)
  assert.is(other.users.size, 1)
  await other.close()
})

test('a machine that joins as a new device has one new id, also after a lost answer, and its old credentials are kept in another file', async ({
  world,
}) => {
  const { config, server, api, user } = world
  const before = (await credentials(world))!
  const join = () => logInWithCode({ config, server: server.url, code: 'c', asNewDevice: true }, api)
  server.requests.length = 0
  server.fault = () => 'cut after'
  await join().catch(() => {})
  assert.equal((await credentials(world))?.login, before.login)
  server.fault = () => undefined
  const joined = await join()
  const ids = server.requests.flatMap(({ text }) => (text === '' ? [] : [(JSON.parse(text) as DeviceBody).deviceId]))
  assert.is(new Set(ids).size, 1)
  assert.is.not(joined.userId, user.userId)
  const after = (await credentials(world))!
  assert.equal([after.deviceId, after.joining, after.login?.userId], [ids[0], undefined, joined.userId])
  assert.equal(JSON.parse(readFileSync(joined.keptAside!, 'utf8')).deviceId, before.deviceId)
  assert.is(statSync(joined.keptAside!).mode & 0o777, 0o600)
})

test('a device whose join got no answer can still join another user', async ({ world }) => {
  const { config, server, api } = world
  const join = () => logInWithCode({ config, server: server.url, code: 'c', asNewDevice: true }, api)
  server.fault = () => 'cut after'
  await join().catch(() => {})
  const { joining } = (await credentials(world))!
  const known = { status: 409, body: { ok: false, error: { code: 'device_known', message: 'known' } } }
  server.fault = ({ text }) => (text.includes(joining!) ? known : undefined)
  const joined = await join()
  const after = (await credentials(world))!
  assert.equal([after.joining, after.login?.userId], [undefined, joined.userId])
  assert.is.not(after.deviceId, joining)
})

test('a code with characters that a shell would interpret is refused', async ({ world: { server } }) => {
  const { newDeviceCode } = newAccountClient(server.url, 'token')
  for (const code of ['$(id)', 'a;b', '-x', '', 'a b', 'a\nb']) {
    server.fault = () => ok({ code, expiresAt: 0 })
    await refusedWith(newDeviceCode(), /expected a code of letters/)
  }
  server.fault = () => ok({ code: '4F7K-9QWE', expiresAt: 0 })
  assert.is((await newDeviceCode()).code, '4F7K-9QWE')
})

test('each server has its own device id and its own token', async ({ world }) => {
  const other = await startServer()
  await logInWithDevice(world.config, other.url, world.api)
  const [one, two] = [await credentials(world), await credentials(world, other.url)]
  assert.is.not(one?.deviceId, two?.deviceId)
  assert.ok(other.requests.every(({ token }) => token !== one?.login?.token))
  await other.close()
})

test('all stored files can be read by their owner only', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', [userLine('u-1', 'hello')])
  await world.sync()
  // The file of a lock is empty.
  const entries = world.configFiles().filter(({ name }) => !name.endsWith('.lock'))
  assert.is(entries.filter((entry) => entry.isFile()).length, 2)
  for (const entry of entries) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
    assert.is(mode, entry.isFile() ? 0o600 : 0o700, entry.name)
  }
  assert.is(statSync(world.config).mode & 0o777, 0o700)
})

test('with a damaged state file, sync compares its sessions with the service, and does not fail', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', [userLine('u-1', 'hello')])
  await world.sync()
  const state = world.configFiles().find((entry) => entry.name === STATE_FILE)
  writeFileSync(join(state!.parentPath, state!.name), 'no database')
  const { summary } = await world.sync()
  assert.equal([summary.messages, summary.new, summary.exitCode], [0, 0, 0])
})

test('without a login for a server, the error says how to log in, and to which other server the user is logged in', async ({
  world,
}) => {
  const where = { config: world.config, server: 'http://127.0.0.1:1', readOnly: false }
  const message = await refused(connect(where, world.api))
  assert.match(message, /Run: (npx )?tracebook login --server http:\/\/127\.0\.0\.1:1/)
  assert.match(message, `You are logged in to ${world.server.url}`)
})

test('if the token has expired, the error says how to log in again', async ({ world }) => {
  world.server.sessions.clear()
  assert.match(await refused(world.sync()), /has ended. Log in again: (npx )?tracebook login/)
})

test('for another namespace a second token is created once and stored, and the login keeps its namespace', async ({
  world,
}) => {
  const team = world.server.addNamespace('team', { [world.user.userId]: 'member' })
  const login = (await credentials(world))?.login
  assert.equal(await world.writesOf({ slug: ' Team ' }), ['POST /v1/session'])
  assert.equal(await world.writesOf({ slug: 'team' }), [])
  const stored = await credentials(world)
  assert.equal(stored?.login, { ...login!, memberOf: ['team'] })
  assert.equal(
    stored?.others.map(({ namespaceId }) => namespaceId),
    [team.id],
  )
  assert.is.not(world.server.sessions.get(login!.token)?.namespaceId, team.id)
  assert.equal(await world.writesOf({ slug: 'user-1' }), [])
})

test('a stored token that has expired is replaced', async ({ world }) => {
  world.server.addNamespace('team', { [world.user.userId]: 'member' })
  await world.sync({ slug: 'team' })
  const stored = (await credentials(world))!
  await writeCredentials(world.config, { ...stored, others: stored.others.map((one) => ({ ...one, token: 'tb_old' })) })
  assert.equal(await world.writesOf({ slug: 'team' }), ['POST /v1/session'])
})

test('an unknown namespace, or one that the user is not a member of, is wrong usage', async ({ world }) => {
  world.server.addNamespace('closed')
  assert.match(await refused(world.sync({ slug: 'none' })), /There is no namespace "none"/)
  assert.match(await refused(world.sync({ slug: 'closed' })), /You are not a member of the namespace "closed"/)
})

test('the address of a server has one normal form, and an address with a password is refused', () => {
  assert.is(serverAddress('HTTPS://Example.com:443/base/', {}), 'https://example.com/base')
  assert.is(serverAddress(undefined, { TRACEBOOK_URL: 'http://x:1/' }), 'http://x:1')
  assert.is(serverAddress(undefined, { TRACEBOOK_URL: '' }), 'http://127.0.0.1:3000')
  for (const wrong of ['example.com', 'ftp://example.com', 'http://me@example.com', 'http://:secret@example.com'])
    assert.throws(
      () => serverAddress(wrong, {}),
      (error: Error) => error.name === 'UsageError',
    )
})

test('a redirect is not followed, so that the token is not sent to another server', async ({ world }) => {
  const other = await startServer()
  world.server.fault = () => ({ status: 307, headers: { location: `${other.url}/v1/session` }, body: {} })
  const error = await world.sync().then(
    () => undefined,
    (reason: unknown) => reason as Error,
  )
  assert.match(error!.message, `it moved to ${other.url}`)
  assert.is(other.requests.length, 0)
  await other.close()
})

test.run()
