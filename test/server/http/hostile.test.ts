import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { bodies, cursors, limits, parameterTexts } from './support/arbitrary.ts'
import { type Operation, readDocument } from './support/document.ts'

const test = suite('random requests')
const RUNS = 40
const database = await freshDatabase()
const env = {
  CODEHOST_CLIENT_ID: 'id',
  CODEHOST_CLIENT_SECRET: 'secret',
  CODEHOST_AUTHORIZE_URL: 'http://127.0.0.1:9/authorize',
  CODEHOST_TOKEN_URL: 'http://127.0.0.1:9/token',
  CODEHOST_USER_URL: 'http://127.0.0.1:9/user',
}
const { app, call, close } = await openApp(database.url, { env })
const { document, operations } = await readDocument(app)
test.after(async () => {
  await close()
  await database.drop()
})

const start = async () =>
  ((await call('POST', '/v1/session', { body: { deviceId: 'somebody' } })).data as { session: NewSession }).session
let session = await start()

/** Something to find, whatever was deleted before; a session too. */
const furnish = async () => {
  if ((await call('GET', '/v1/user', { token: session.token })).status === 401) session = await start()
  const { token } = session
  await call('POST', '/v1/namespaces', { token, body: { slug: 'team', displayName: 'Team' } })
  await call('PUT', '/v1/traces/trace', { token, body: { visibility: 'public' } })
}

/** The key in the cursors of a trace's messages that names their list, so that others can be made that are taken for its own. */
const listKey = async () => {
  const { token } = session
  for (const name of ['one', 'two']) {
    await call('PUT', `/v1/traces/trace/messages/${name}`, { token, body: { role: 'user' } })
  }
  const { data } = await call('GET', '/v1/traces/trace/messages?limit=1', { token })
  const { nextCursor } = data as { nextCursor: string }
  return (JSON.parse(Buffer.from(nextCursor, 'base64url').toString()) as string[])[3]!
}

const requestOf = ({ path, parameters, body }: Operation) => {
  const known: Record<string, string> = {
    slug: 'team',
    externalId: 'trace',
    messageExternalId: 'message',
    userId: session.userId,
    id: session.id,
    limit: '5',
    includeParts: 'true',
  }
  const textsOf = (name: string) => fc.option(parameterTexts(known[name] ?? 'x'), { freq: 3 })
  const placed = fc.record(Object.fromEntries(parameters.map(({ name }) => [name, textsOf(name)])))
  const url = placed.map((values) => {
    const inPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? known[name] ?? 'x')
    const query = parameters.filter(({ in: where, name }) => where === 'query' && typeof values[name] === 'string')
    return `${inPath}${query.length > 0 ? '?' : ''}${query.map(({ name }) => `${name}=${values[name]}`).join('&')}`
  })
  const type = fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain', '')
  const sent = body
    ? fc.option(bodies(body, document.components.schemas), { freq: 8, nil: undefined })
    : fc.constant(undefined)
  return fc.record({ url, type, sent, signedIn: fc.nat({ max: 4 }).map((n) => n > 0) })
}

for (const operation of operations) {
  const { method, path } = operation
  if (!path.startsWith('/v1/') && path !== '/health') continue
  test(`${method} ${path} answers as the document says`, async () => {
    await furnish()
    const property = fc.asyncProperty(requestOf(operation), async ({ url, type, sent, signedIn }) => {
      const headers = {
        ...(signedIn ? { authorization: `Bearer ${session.token}` } : {}),
        ...(sent === undefined || type === '' ? {} : { 'content-type': type }),
      }
      const answer = await app.inject({ method, url, headers, ...(sent === undefined ? {} : { payload: sent }) })
      const { statusCode: status, body } = answer
      if (method === 'DELETE' && status === 200) await furnish()
      assert.ok(status < 500, `${status} ${body}`)
      assert.ok(answer.headers['x-request-id'])
      if (!String(answer.headers['content-type']).startsWith('application/json')) {
        return assert.ok(operation.knows(status), `${status} is not described`)
      }
      const problem = operation.problemOf(status, JSON.parse(body))
      assert.is(problem, undefined, `${status} ${body.slice(0, 500)}`)
    })
    await fc.assert(property, { numRuns: RUNS })
  })
}

for (const { method, path, parameters } of operations) {
  if (!parameters.some(({ name }) => name === 'cursor')) continue
  test(`${method} ${path} answers any cursor and limit as the document says`, async () => {
    await furnish()
    const { token } = session
    const filled = path.replace('{externalId}', 'trace').replace('{slug}', 'team')
    const key = await listKey()
    const asked = fc.record({ cursor: cursors, limit: fc.option(limits, { nil: undefined }) })
    const property = fc.asyncProperty(asked, async ({ cursor, limit }) => {
      const text = Buffer.from(cursor, 'base64url').toString().replaceAll('00000000-0000-4000-8000-000000000000/0', key)
      for (const each of [cursor, Buffer.from(text).toString('base64url')]) {
        const url = `${filled}?cursor=${each}${limit === undefined ? '' : `&limit=${limit}`}`
        const { statusCode, body } = await app.inject({ method, url, headers: { authorization: `Bearer ${token}` } })
        assert.ok(statusCode === 200 || statusCode === 400, `${statusCode} ${url} ${text} ${body}`)
      }
    })
    await fc.assert(property, { numRuns: 10 * RUNS })
  })
}

test('this test notices an answer that is not as the document says', () => {
  const user = operations.find(({ method, path }) => `${method} ${path}` === 'GET /v1/user')!
  assert.is(user.problemOf(200, { ok: true, data: { user: { id: 'x' } } }), undefined)
  for (const [status, body] of [
    [200, { ok: true, data: { user: {} } }],
    [200, { ok: false }],
    [401, { ok: true, data: {} }],
    [418, {}],
  ] as const) {
    assert.type(user.problemOf(status, body), 'string')
  }
})

test('and the read models have applied everything', async () => {
  const { statusCode, body } = await app.inject('/health/ready')
  assert.is(statusCode, 200, body)
  const [{ token }, path] = [await start(), '/v1/traces/after/messages']
  await call('PUT', '/v1/traces/after', { token, body: {} })
  assert.is((await call('PUT', `${path}/m`, { token, body: { role: 'user' } })).status, 200)
  const { data } = await call('GET', path, { token })
  assert.equal(
    (data as { messages: { externalId: string }[] }).messages.map(({ externalId }) => externalId),
    ['m'],
  )
})

test.run()
