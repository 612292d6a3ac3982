import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { addDevice } from '../../support/add-device.ts'
import { onServer } from '../../support/database.ts'
import { WITH_WORKER, type Person, openWorld, signIn } from '../../support/world.ts'
import { png } from '../../support/pictures.ts'
import { until } from '../../support/until.ts'

const test = suite('http/log-position')

const { database, node } = await openWorld(test, { env: WITH_WORKER })
const { app } = node

type Sent = { readonly body?: object | Buffer; readonly params?: Readonly<Record<string, string>> }

const send = async (route: string, token: string, { body, params = {} }: Sent = {}) => {
  const [method, path] = route.split(' ') as ['PUT', string]
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name]!)
  const type = { 'content-type': Buffer.isBuffer(body) ? 'image/png' : 'application/json' }
  const headers = { authorization: `Bearer ${token}`, ...(body ? type : {}) }
  const answer = await app.inject({ method, url, headers, ...(body ? { payload: body } : {}) })
  return { status: answer.statusCode, position: answer.headers['x-log-position'], json: answer.json() }
}

const invite = async ({ send, namespaceSlug }: Person) =>
  (await send<{ invite: { code: string } }>('POST', `/v1/namespaces/${namespaceSlug}/invites`, {})).invite.code

/** A member of the namespace of `host`. */
const member = async (host: Person) => {
  const guest = await signIn(node)
  await host.admit(host.namespaceSlug, guest)
  return guest
}

const trace = async (token: string) => {
  const externalId = randomUUID()
  await send(`PUT /v1/traces/${externalId}`, token, { body: {} })
  return { externalId }
}

const message = { role: 'user', textContent: 'words' }

/** Records a commit in the namespace of a user. */
const record = async ({ token, namespaceSlug }: Person) => {
  const { json } = await send(`GET /v1/namespaces/${namespaceSlug}/attribution-key`, token)
  const { id: key } = json.data.key as { id: string }
  const commit = { sha: 'a'.repeat(40), at: 1, hunks: [] }
  return { params: { slug: namespaceSlug }, body: { key, repository: 'codehost.example/app', commits: [commit] } }
}

/** For each route that writes: what to send it so that it answers 200. */
const writes: Readonly<Record<string, (user: Person) => Sent | Promise<Sent>>> = {
  'POST /v1/traces': () => ({ body: { externalId: randomUUID() } }),
  'PUT /v1/traces/{externalId}': () => ({ params: { externalId: randomUUID() }, body: {} }),
  'PATCH /v1/traces/{externalId}': async ({ token }) => ({ params: await trace(token), body: { title: 'T' } }),
  'DELETE /v1/traces/{externalId}': async ({ token }) => ({ params: await trace(token) }),
  'PUT /v1/traces/{externalId}/messages/{messageExternalId}': async ({ token }) => ({
    params: { ...(await trace(token)), messageExternalId: 'm' },
    body: message,
  }),
  'POST /v1/traces/{externalId}/messages/batch': async ({ token }) => ({
    params: await trace(token),
    body: { messages: [{ ...message, externalId: 'm' }] },
  }),
  'POST /v1/traces/{externalId}/history/erase': async ({ token }) => {
    const params = await trace(token)
    await send('PATCH /v1/traces/{externalId}', token, { params, body: { title: 'T' } })
    return { params }
  },
  'POST /v1/traces/{externalId}/move': async ({ token, newTeam }) => ({
    params: await trace(token),
    body: { namespace: (await newTeam()).slug },
  }),
  'POST /v1/namespaces': () => ({ body: { slug: `team-${randomUUID().slice(0, 13)}`, displayName: 'Team' } }),
  'PATCH /v1/namespaces/{slug}': ({ namespaceSlug }) => ({
    params: { slug: namespaceSlug },
    body: { description: 'D' },
  }),
  'PUT /v1/namespaces/{slug}/avatar': ({ namespaceSlug }) => ({ params: { slug: namespaceSlug }, body: png }),
  'POST /v1/namespaces/{slug}/invites': ({ namespaceSlug }) => ({ params: { slug: namespaceSlug }, body: {} }),
  'DELETE /v1/namespaces/{slug}/invites/{code}': async (user) => ({
    params: { slug: user.namespaceSlug, code: await invite(user) },
  }),
  'POST /v1/invites/{code}/accept': async () => ({ params: { code: await invite(await signIn(node)) } }),
  'PATCH /v1/namespaces/{slug}/members/{userId}': async (user) => ({
    params: { slug: user.namespaceSlug, userId: (await member(user)).userId },
    body: { role: 'admin' },
  }),
  'DELETE /v1/namespaces/{slug}/members/{userId}': async (user) => ({
    params: { slug: user.namespaceSlug, userId: (await member(user)).userId },
  }),
  'POST /v1/namespaces/{slug}/commits': record,
  'DELETE /v1/namespaces/{slug}/commits/{sha}': async (user) => {
    const { params, body } = await record(user)
    const { status } = await send('POST /v1/namespaces/{slug}/commits', user.token, { params, body })
    assert.is(status, 200)
    return { params: { ...params, sha: `${body.commits[0]!.sha}?repository=${body.repository}` } }
  },
  'PATCH /v1/user': () => ({ body: { displayName: 'Ada' } }),
  'PATCH /v1/user/identities/{id}': ({ identityId }) => ({ params: { id: identityId }, body: { name: 'my laptop' } }),
  'DELETE /v1/user/identities/{id}': async ({ userId }) => ({
    params: { id: await addDevice(node, userId, randomUUID()) },
  }),
}

/** They are sent by POST because they are long, and change nothing. */
const QUESTIONS = new Set(['POST /v1/namespaces/{slug}/attributions', 'POST /v1/traces/{externalId}/proofs'])

/** The routes of the OpenAPI document whose answers name a position. */
const routesThatWrite = async (): Promise<string[]> => {
  const { paths } = (await app.inject({ url: '/openapi.json' })).json() as { paths: Record<string, object> }
  return Object.entries(paths)
    .filter(([path]) => /^\/v1\/(traces|namespaces|invites|user)(\/|$)/.test(path))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((route) => !route.startsWith('GET ') && !QUESTIONS.has(route))
}

const holds = async (token: string, text: unknown) => {
  const { status, json } = await send(`GET /v1/session?holds=${encodeURIComponent(String(text))}`, token)
  assert.is(status, 200)
  assert.type(json.data.logId, 'string')
  return json.data.holds as boolean
}

const lastEvent = async () => {
  const { log } = node.service
  const last = await Array.fromAsync(log.readAll({ after: 0n }))
  return last.at(-1)!
}

test('each answer to a write names its last event, and the log has it', async () => {
  assert.equal((await routesThatWrite()).sort(), Object.keys(writes).sort())
  const user = await signIn(node)
  for (const [route, sent] of Object.entries(writes)) {
    const answer = await send(route, user.token, await sent(user))
    assert.is(answer.status, 200, `${route}: ${JSON.stringify(answer.json)}`)
    const { position, id } = await lastEvent()
    assert.is(answer.position, `${position}.${id}`, route)
    assert.is(await holds(user.token, answer.position), true, route)
  }
})

test('a write that changes nothing names the last event of the state that it shows', async () => {
  const { token, namespaceSlug: slug } = await signIn(node)
  const params = await trace(token)
  for (const [route, sent] of [
    ['POST /v1/traces/{externalId}/messages/batch', { params, body: { messages: [{ ...message, externalId: 'm' }] } }],
    [
      'PUT /v1/traces/{externalId}/messages/{messageExternalId}',
      { params: { ...params, messageExternalId: 'm' }, body: message },
    ],
    ['PATCH /v1/namespaces/{slug}', { params: { slug }, body: { description: 'D' } }],
    ['PATCH /v1/user', { body: { displayName: 'Ada' } }],
  ] as const) {
    const first = await send(route, token, sent)
    const { id: before } = await lastEvent()
    const again = await send(route, token, sent)
    assert.equal([again.status, again.position, (await lastEvent()).id], [200, first.position, before], route)
  }
})

test('reads and refusals name no event', async () => {
  const { token } = await signIn(node)
  const { externalId } = await trace(token)
  for (const [route, status] of [
    [`GET /v1/traces/${externalId}`, 200],
    [`DELETE /v1/traces/${randomUUID()}`, 404],
    ['GET /v1/session', 200],
  ] as const) {
    const answer = await send(route, token)
    assert.equal([answer.status, answer.position], [status, undefined], route)
  }
  assert.is((await send('GET /v1/session', token)).json.data.holds, undefined)
})

test('an erased event still counts as held', async () => {
  const { token } = await signIn(node)
  const { externalId } = await trace(token)
  const { position } = await send(`PATCH /v1/traces/${externalId}`, token, { body: { title: 'T' } })
  const deleted = await send(`DELETE /v1/traces/${externalId}`, token)
  const pending = async () => (await onServer(database.url, 'select from tracebook.erasures')).rows.length
  await until(async () => (await pending()) === 0)
  for (const text of [position, deleted.position]) assert.is(await holds(token, text), true)
})

test('an event that the log does not have at that position, and an invalid text, are not held', async () => {
  const { token } = await signIn(node)
  const { position, id } = await lastEvent()
  assert.is(await holds(token, `${position}.${id}`), true)
  for (const text of [
    `${position}.${randomUUID()}`,
    `${position - 1n}.${id}`,
    `${position + 1_000_000n}.${id}`,
    `${2n ** 63n}.${id}`,
    `-1.${id}`,
    `${position}`,
    `${position}.`,
    `${position}.x`,
    `${position}.${id} `,
    'text',
    '\0',
    '',
  ])
    assert.is(await holds(token, text), false, text)
  assert.is((await send('GET /v1/session?holds=a&holds=b', token)).status, 400)
})

test('pages of other origins may read the header', async () => {
  const { headers } = await app.inject({ url: '/v1/feed', headers: { origin: 'https://example.org' } })
  assert.match(String(headers['access-control-expose-headers']), /\bx-log-position\b/)
})

test.run()
