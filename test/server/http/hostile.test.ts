import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'
import { bodies, cursors, limits, parameterTexts } from './support/arbitrary.ts'
import { type Operation, readDocument } from './support/document.ts'

const test = suite('random requests')
const RUNS = 40
const env = {
  CODEHOST_CLIENT_ID: 'id',
  CODEHOST_CLIENT_SECRET: 'secret',
  CODEHOST_AUTHORIZE_URL: 'http://127.0.0.1:9/authorize',
  CODEHOST_TOKEN_URL: 'http://127.0.0.1:9/token',
  CODEHOST_USER_URL: 'http://127.0.0.1:9/user',
}
const { node } = await openWorld(test, { env })
const { app } = node
const { document, operations } = await readDocument(app)

let user = await signIn(node, 'somebody')

/** Something to find, whatever was deleted before; a session too. */
const furnish = async () => {
  if ((await user.ask('GET', '/v1/user')).status === 401) user = await signIn(node, 'somebody')
  await user.ask('POST', '/v1/namespaces', { slug: 'team', displayName: 'Team' })
  await user.ask('PUT', '/v1/traces/trace', { visibility: 'public' })
}

/** The key in the cursors of a trace's messages that names their list, so that others can be made that are taken for its own. */
const listKey = async () => {
  for (const name of ['one', 'two']) await user.ask('PUT', `/v1/traces/trace/messages/${name}`, { role: 'user' })
  const { nextCursor } = await user.send<{ nextCursor: string }>('GET', '/v1/traces/trace/messages?limit=1')
  return (JSON.parse(Buffer.from(nextCursor, 'base64url').toString()) as string[])[3]!
}

const requestOf = ({ path, parameters, body }: Operation) => {
  const known: Record<string, string> = {
    slug: 'team',
    externalId: 'trace',
    messageExternalId: 'message',
    userId: user.userId,
    id: user.id,
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
        ...(signedIn ? { authorization: `Bearer ${user.token}` } : {}),
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
    const { token } = user
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
  const after = await signIn(node, 'somebody')
  const { url } = await after.newTrace()
  await after.send('PUT', `${url}/messages/m`, { role: 'user' })
  const { messages } = await after.send<{ messages: { externalId: string }[] }>('GET', `${url}/messages`)
  assert.equal(messages.map(({ externalId }) => externalId), ['m']) // prettier-ignore
})

test.run()
