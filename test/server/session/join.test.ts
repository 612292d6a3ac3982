import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sha256 } from '../../../src/base/ids.ts'
import { signIn } from '../../../src/server/session/sign-in.ts'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { all } from '../../eventstore/log/support/events.ts'
import { onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { callerOf, signIn as signInByDevice } from '../../support/world.ts'

const test = suite('a device joins a user')
const MINUTE = 60_000
const { clock, database, node: app, openNode, other, nodes } = await openTwoNodes(test)
const { call, service } = app

const post = (body: object, node: App = app) => node.call('POST', '/v1/session', { body })
const sessionOf = async (answer: ReturnType<typeof post>): Promise<NewSession> => {
  const { status, data, error } = await answer
  assert.is(status, 200, JSON.stringify(error))
  return (data as { session: NewSession }).session
}
const start = (deviceId?: string, node: App = app) => signInByDevice(node, deviceId)
const newCode = ({ token }: NewSession, node: App = app) =>
  callerOf(node, token).send<{ code: string; expiresAt: number }>('POST', '/v1/session/device')
const join = (joinCode: string, deviceId: string = randomUUID(), node: App = app, more: object = {}) =>
  post({ deviceId, joinCode, ...more }, node)
const refusalOf = async (answer: ReturnType<typeof post>) => {
  const { status, error } = await answer
  return `${status} ${error?.code}`
}
const identitiesOf = async ({ token }: NewSession) => {
  const { identities } = await callerOf(app, token).send<{ identities: { id: string }[] }>('GET', '/v1/user/identities')
  return identities.map(({ id }) => id)
}
const remove = ({ token }: NewSession, id: string) => callerOf(app, token).send('DELETE', `/v1/user/identities/${id}`)

/** Signs in as a request with a code does, in a process that dies at a step. */
const joinIn = (broken: Partial<typeof service>, code: string, deviceId: string) =>
  signIn(
    { ...service, ...broken },
    {
      credential: { type: 'device', key: sha256(deviceId), profile: {} },
      namespaceId: undefined,
      deviceName: undefined,
      inviteCode: undefined,
      join: { code, limited: (lookUp) => lookUp() },
      requestId: undefined,
    },
  )
const dies = () => Promise.reject(new Error('killed'))
const killed = async (work: Promise<unknown>) =>
  assert.is(((await work.catch((error: Error) => error)) as Error).message, 'killed')

test('with a code that is valid for ten minutes, as the user who made it, and stays a device of that user', async () => {
  const [user, deviceId] = [await start(), randomUUID()]
  const { code, expiresAt } = await newCode(user)
  assert.match(code, /^([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{4}$/)
  assert.is(expiresAt, clock.now + 10 * MINUTE)
  const joined = await sessionOf(join(code, deviceId, app, { deviceName: 'second' }))
  assert.equal(
    [joined.userId, joined.namespaceSlug, joined.role, joined.deviceName],
    [user.userId, user.namespaceSlug, 'admin', 'second'],
  )
  assert.equal((await identitiesOf(user)).sort(), [user.identityId, joined.identityId].sort())
  assert.is((await start(deviceId)).userId, user.userId)
  const events = await all(service.log.readAll({ after: -1n }))
  const created = events.find(({ stream }) => stream === `identity-${joined.identityId}`)!
  assert.equal(JSON.parse(created.metadata).actor, { userId: user.userId, sessionId: user.id })
})

test('typed by hand: case, spaces, hyphens and similar characters do not matter', async () => {
  const user = await start()
  const { code } = await newCode(user)
  const typed = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `
  assert.is((await sessionOf(join(typed))).userId, user.userId)
})

test('only one of many devices, on two nodes', async () => {
  const user = await start()
  const { code } = await newCode(user)
  const racing = Array.from({ length: 12 }, (_, i) => join(code, randomUUID(), nodes[i % 2]))
  const answers = await Promise.all(racing)
  const won = answers.filter(({ status }) => status === 200)
  assert.is(won.length, 1)
  for (const { status, error } of answers.filter((one) => !won.includes(one)))
    assert.equal([status, error.code], [410, 'code_used'])
  assert.is((await identitiesOf(user)).length, 2)
})

test('again with the same code after a lost answer, also when the code has expired since', async () => {
  const [user, deviceId] = [await start(), randomUUID()]
  const { code } = await newCode(user)
  const twice = await Promise.all([join(code, deviceId), join(code, deviceId, other)].map(sessionOf))
  clock.now += 11 * MINUTE
  for (const { userId } of [...twice, await sessionOf(join(code, deviceId, other))]) assert.is(userId, user.userId)
  assert.is((await identitiesOf(user)).length, 2)
  assert.is(await refusalOf(join(code)), '410 code_used')
})

test('also if the process died between two steps', async () => {
  const user = await start()
  for (const broken of [
    { codes: { ...service.codes, claim: dies } },
    { identities: { ...service.identities, transact: dies } },
    { write: dies },
  ]) {
    const [{ code }, deviceId] = [await newCode(user), randomUUID()]
    await killed(joinIn(broken, code, deviceId))
    if (!('codes' in broken)) assert.is(await refusalOf(join(code)), '410 code_used')
    assert.is((await sessionOf(join(code, deviceId, other))).userId, user.userId)
  }
  assert.is((await identitiesOf(user)).length, 4)
})

test('not with a code that was never made, has expired, or is deleted already', async () => {
  const user = await start()
  const { code } = await newCode(user)
  for (const unknown of ['', 'x', '\0', 'A'.repeat(20), user.token, `${code}0`])
    assert.is(await refusalOf(join(unknown)), '404 not_found')
  assert.is(await refusalOf(join('x'.repeat(257))), '400 invalid_request')
  clock.now += 10 * MINUTE
  assert.is(await refusalOf(join(code)), '410 code_expired')
  clock.now += 60 * MINUTE
  await newCode(user)
  assert.is(await refusalOf(join(code)), '404 not_found')
})

test('not if it has a user already; the code stays valid for another device', async () => {
  const [user, stranger] = [await start(), randomUUID()]
  const mine = randomUUID()
  await start(stranger)
  await sessionOf(join((await newCode(user)).code, mine))
  const { code } = await newCode(user)
  for (const known of [stranger, mine]) assert.is(await refusalOf(join(code, known)), '409 device_known')
  assert.is((await sessionOf(join(code))).userId, user.userId)
})

test('not if it becomes another user meanwhile; the code stays valid for another device', async () => {
  const [user, deviceId] = [await start(), randomUUID()]
  const { code } = await newCode(user)
  const claim: typeof service.codes.claim = async (...claimed) => {
    const isFirst = await service.codes.claim(...claimed)
    await start(deviceId)
    return isFirst
  }
  const error = await joinIn({ codes: { ...service.codes, claim } }, code, deviceId).catch((reason: Error) => reason)
  assert.is((error as { code?: string }).code, 'device_known')
  assert.is((await sessionOf(join(code))).userId, user.userId)

  const [second, dead] = [await newCode(user), randomUUID()]
  await killed(joinIn({ identities: { ...service.identities, transact: dies } }, second.code, dead))
  await start(dead)
  assert.is(await refusalOf(join(second.code, dead)), '409 device_known')
  assert.is((await sessionOf(join(second.code))).userId, user.userId)
})

test('not again after it was removed, with the code by which it joined', async () => {
  const [user, deviceId] = [await start(), randomUUID()]
  const { code } = await newCode(user)
  const joined = await sessionOf(join(code, deviceId))
  await remove(user, joined.identityId)
  assert.is((await call('GET', '/v1/session', { token: joined.token })).status, 401)
  assert.is(await refusalOf(join(code, deviceId)), '410 code_used')
  const { code: another } = await newCode(user)
  assert.is((await sessionOf(join(another, deviceId))).userId, user.userId)
})

test('not once the session that made the code has ended, or its identity was removed, on any node', async () => {
  const user = await start()
  const second = await sessionOf(join((await newCode(user)).code))
  const [signedOut, removed, expired] = [await newCode(user), await newCode(second), await newCode(user)]
  await call('DELETE', '/v1/session', { token: user.token })
  assert.is(await refusalOf(join(signedOut.code, randomUUID(), other)), '410 code_expired')
  const again = await sessionOf(join((await newCode(second)).code))
  await remove(again, second.identityId)
  assert.is(await refusalOf(join(removed.code, randomUUID(), other)), '410 code_expired')
  assert.is(await refusalOf(join(expired.code)), '410 code_expired')
})

for (const [how, end] of [
  ['its session ends', ({ token }: NewSession) => call('DELETE', '/v1/session', { token })],
  [
    'its device is removed',
    async (maker: NewSession) => remove(await sessionOf(join((await newCode(maker)).code)), maker.identityId),
  ],
] as const) {
  test(`not where ${how} after the code was checked: the device is no way in`, async () => {
    const [first, deviceId] = [await start(), randomUUID()]
    const maker = await sessionOf(join((await newCode(first)).code))
    const { code } = await newCode(maker)
    const transact: typeof service.identities.transact = async (...args) => {
      await end(maker)
      return service.identities.transact(...args)
    }
    const joining = joinIn({ identities: { ...service.identities, transact } }, code, deviceId)
    assert.is(((await joining.catch((error: Error) => error)) as { code?: string }).code, 'code_expired')
    const key = sha256(deviceId)
    const created = (await all(service.log.readAll({ after: -1n }))).find(({ data }) => data.includes(key))!
    assert.not.ok((await identitiesOf(first)).includes(created.stream.slice('identity-'.length)))
    assert.is(await refusalOf(join(code, deviceId, other)), '410 code_used')
    assert.is.not((await start(deviceId, other)).userId, first.userId)
  })
}

test('into a namespace that the user is a member of; a refusal leaves the code unused', async () => {
  const [user, stranger] = [await start(), await start()]
  const made = await call('POST', '/v1/namespaces', {
    token: user.token,
    body: { slug: 'joined-team', displayName: 'Joined' },
  })
  const { id } = (made.data as { namespace: { id: string } }).namespace
  const [{ code }, deviceId] = [await newCode(user), randomUUID()]
  const into = (namespaceId: string | undefined) => join(code, deviceId, app, { namespaceId })
  assert.is(await refusalOf(into(stranger.namespaceId)), '403 forbidden')
  assert.is(await refusalOf(into('nowhere')), '404 not_found')
  assert.is((await sessionOf(into(id))).namespaceSlug, 'joined-team')
  assert.is(await refusalOf(into(stranger.namespaceId)), '403 forbidden')
})

test('also if no new users may sign up', async () => {
  const { code } = await newCode(await start())
  const closed = await openNode({ env: { SIGN_UP: 'off' } })
  assert.is(await refusalOf(post({ deviceId: randomUUID() }, closed)), '403 forbidden')
  await sessionOf(join(code, randomUUID(), closed))
})

test('only a signed-in caller makes a code', async () => {
  for (const token of [undefined, 'tb_made-up'])
    assert.is((await call('POST', '/v1/session/device', { token })).status, 401)
})

test('unknown codes count against the limit for invalid tokens; known codes do not', async () => {
  const env = { RATE_LIMITS: 'on', RATE_LIMIT_UNAUTHORIZED: '3' }
  const limited = await openNode({ env })
  const user = await start(randomUUID(), limited)
  for (let i = 0; i < 4; i++) await sessionOf(join((await newCode(user, limited)).code, randomUUID(), limited))
  const { code } = await newCode(user, limited)
  const statuses: number[] = []
  for (let i = 0; i < 4; i++) statuses.push((await join(`guess ${i}`, randomUUID(), limited)).status)
  assert.equal(statuses, [404, 404, 404, 429])
  assert.is((await join(code, randomUUID(), limited)).status, 429)
})

test('the database holds no code', async () => {
  const { code } = await newCode(await start())
  const { rows } = await onServer(database.url, 'select h::text as text from tracebook.handshakes h')
  const text = JSON.stringify(rows)
  for (const secret of [code, code.replaceAll('-', '')]) assert.not.ok(text.includes(secret))
})

test.run()
