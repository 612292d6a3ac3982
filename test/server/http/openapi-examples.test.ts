import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { z } from 'zod'
import { buildApp } from '../../../src/server/service/app.ts'
import { newWorld } from '../../support/world.ts'

type Json = Record<string, unknown>
type Parameter = { readonly name: string; readonly in: string; readonly example?: unknown }
type Operation = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Record<string, { readonly example?: unknown }> }
}
type Document = { readonly paths: Record<string, Record<string, Operation>> }

const test = suite('the examples of the reference')
/** The zod schemas of all routes, by method and path. */
const schemas = new Map<string, { body?: z.ZodType; params?: z.ZodType; querystring?: z.ZodType }>()

const noteRoutes = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url, schema }: RouteOptions) => {
    const path = url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{*}')
    schemas.set(`${String(method).toLowerCase()} ${path}`, (schema ?? {}) as never)
  })
}

const { node, close } = await newWorld()
subscribe('fastify.initialization', noteRoutes)
const app = await buildApp(node.service)
unsubscribe('fastify.initialization', noteRoutes)
await app.ready()
test.after(async () => {
  await app.close()
  await close()
})

const documentAt = async (url: string) => (await app.inject(url)).json<Document>()

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, method, path, operation })),
  )

const bodyOf = ({ requestBody }: Operation) => Object.values(requestBody?.content ?? {})[0]?.example

/** An operation sent as a page fills it in. */
const send = (document: Document, name: string, token?: string) => {
  const [method, path] = name.split(' ') as ['get', string]
  const operation = document.paths[path]![method]!
  const query = new URLSearchParams()
  let url = path
  for (const { name, in: place, example } of operation.parameters ?? []) {
    if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(String(example)))
    else if (example !== undefined) query.set(name, String(example))
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const body = bodyOf(operation)
  return app.inject({
    method,
    url: `${url}?${query}`,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
}

test('every request body has an example, which its schema accepts', async () => {
  let bodies = 0
  for (const url of ['/openapi.json', '/docs/json']) {
    for (const { name, operation } of operationsOf(await documentAt(url))) {
      const body = schemas.get(name)?.body
      if (!body) continue
      bodies += 1
      const example = bodyOf(operation)
      assert.ok(example !== undefined, name)
      assert.equal(body.safeParse(example).error, undefined, name)
    }
  }
  assert.ok(bodies >= 2 * 14)
})

/** What only another answer gives: filled in with anything else it would be refused. */
const GIVEN_BY_OTHERS = new Set(['around', 'cursor', 'v', 'revision', 'at', 'ifRevision'])

test('every parameter has an example, which its schema accepts', async () => {
  for (const { name, operation } of operationsOf(await documentAt('/openapi.json'))) {
    if (name.includes('/auth/callback/')) continue
    const filled: Record<'path' | 'query', Json> = { path: {}, query: {} }
    for (const { name: parameter, in: place, example } of operation.parameters ?? []) {
      assert.is(example === undefined, place === 'query' && GIVEN_BY_OTHERS.has(parameter), `${name}: ${parameter}`)
      if (example !== undefined) filled[place as 'path' | 'query'][parameter] = String(example)
    }
    const { params, querystring } = schemas.get(name)!
    assert.equal(params?.safeParse(filled.path).error, undefined, name)
    assert.equal(querystring?.safeParse(filled.query).error, undefined, name)
  }
})

/** In an order in which each finds what it needs. */
const WORKING = [
  'get /v1/session',
  'patch /v1/user',
  'get /v1/user/identities',
  'get /v1/sessions',
  'post /v1/namespaces',
  'patch /v1/namespaces/{slug}',
  'get /v1/namespaces/{slug}',
  'get /v1/namespaces/{slug}/members',
  'post /v1/namespaces/{slug}/invites',
  'get /v1/namespaces/{slug}/invites',
  'post /v1/session/switch',
  'post /v1/traces',
  'put /v1/traces/{externalId}',
  'patch /v1/traces/{externalId}',
  'put /v1/traces/{externalId}/messages/{messageExternalId}',
  'post /v1/traces/{externalId}/messages/batch',
  'get /v1/traces/{externalId}/messages',
  'get /v1/traces/{externalId}',
  'get /v1/namespaces/{slug}/traces',
  'get /v1/traces',
  'get /v1/feed',
  'get /v1/models',
  'delete /v1/traces/{externalId}',
  'delete /v1/session',
]

test('the examples on the page work unchanged, for each of its readers', async () => {
  const users = new Set<string>()
  for (const reader of ['the first', 'the second']) {
    const document = await documentAt('/docs/json')
    const started = await send(document, 'post /v1/session')
    assert.is(started.statusCode, 200, started.body)
    const { token, userId } = started.json().data.session
    users.add(userId)
    for (const name of WORKING) {
      const answer = await send(document, name, token)
      assert.is(answer.statusCode, 200, `${reader}, ${name}: ${answer.body}`)
    }
  }
  assert.is(users.size, 2)
})

test('the deviceId of the document is refused, because all who sent it would be the same user', async () => {
  const answer = await send(await documentAt('/openapi.json'), 'post /v1/session')
  assert.is(answer.statusCode, 400)
  assert.ok(answer.json().error.details.fieldErrors.deviceId)
})

test('the document is the same for everybody', async () => {
  const [one, other] = [await app.inject('/openapi.json'), await app.inject('/openapi.json')]
  assert.is(one.body, other.body)
  const page = await app.inject('/docs/json')
  assert.is(page.headers['cache-control'], 'no-store')
  assert.is.not(page.body, (await app.inject('/docs/json')).body)
})

test.run()
