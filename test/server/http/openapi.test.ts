import Fastify from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildApp, installApi } from '../../../src/server/service/app.ts'
import { api } from '../../../src/contract/api.ts'
import { type ErrorCode, errors } from '../../../src/contract/errors.ts'
import type { Route } from '../../../src/contract/route.ts'
import { newWorld } from '../../support/world.ts'

type Operation = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[]
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

const test = suite('the OpenAPI document')
const { node, close } = await newWorld()
const app = await buildApp(node.service)
test.after(async () => {
  await app.close()
  await close()
})
const text = (await app.inject('/openapi.json')).body
const paths = Object.entries(JSON.parse(text).paths as Record<string, Record<string, Operation>>)
const operations: ReadonlyMap<string, Operation> = new Map(
  paths.flatMap(([path, item]) => Object.entries(item).map(([method, one]) => [`${method} ${path}`, one])),
)

test('has the routes for operators, too', () => {
  for (const one of ['get /health', 'get /health/ready', 'get /metrics']) assert.ok(operations.has(one), one)
})

test('shows every route that there is, and no other', async () => {
  const collector = Fastify({ exposeHeadRoutes: false })
  collector.setValidatorCompiler(() => () => true)
  const served = new Set<string>()
  collector.addHook('onRoute', ({ method, url }) => {
    // Several methods at once are those that an address does not have.
    if (typeof method === 'string') served.add(`${method.toLowerCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
  })
  await installApi(collector, node.service)
  await collector.ready()
  const shown = [...operations.keys()].filter((name) => name.includes('/v1/'))
  assert.equal(
    shown.filter((name) => !served.has(name)),
    [],
  )
  assert.equal(
    [...served].filter((name) => name.includes('/v1/') && !name.includes('*') && !operations.has(name)),
    [],
  )
  assert.ok(shown.length > 60)
})

test('names and describes every operation, its parameters and its answers', () => {
  const ids = [...operations.values()].map(({ operationId }) => operationId)
  assert.equal(ids, [...new Set(ids)])
  for (const [name, { operationId, summary, description, tags, parameters = [], responses }] of operations) {
    assert.match(operationId, /^[a-z][A-Za-z]+$/, name)
    assert.ok(summary && tags.length === 1, name)
    assert.ok(description, `${name} has no description`)
    for (const parameter of parameters) assert.ok(parameter.description, `${name}: ${parameter.name}`)
    for (const response of Object.values(responses)) assert.is.not(response.description, 'Default Response', name)
    if (name.includes('/v1/')) assert.ok(responses.default, `${name} may fail`)
  }
})

test('says what each route needs of a caller', () => {
  const [bearer, cookie] = [{ bearer: [] }, { cookie: [] }]
  const securityOf = (name: string) => operations.get(name)?.security
  assert.equal(securityOf('post /v1/session'), [])
  assert.equal(securityOf('get /v1/feed'), [bearer, cookie, {}])
  assert.equal(securityOf('delete /v1/traces/{externalId}'), [bearer, cookie])
  for (const [name, { security }] of operations) assert.ok(security, name)
})

test('names the errors of every kind of route', () => {
  for (const [name, { security, responses }] of operations) {
    if (!name.includes('/v1/')) continue
    const [method] = name.split(' ')
    const needsToken = security.length === 2
    const wanted = ['400', '429', '500', '503']
    if (needsToken) wanted.push('401')
    if (needsToken && method !== 'get') wanted.push('403')
    if (['post', 'put', 'patch'].includes(method!)) wanted.push('413')
    for (const status of wanted) assert.ok(responses[status], `${name}: ${status}`)
  }
})

test('says of each error of each route when it happens and what to do', () => {
  for (const [key, { errors: own = {} }] of Object.entries<Route>(api)) {
    const [method = '', path = ''] = key.split(' ')
    const { responses } = operations.get(`${method.toLowerCase()} ${path}`)!
    for (const [code, sentence] of Object.entries(own)) {
      assert.match(sentence, /^[A-Z`].+\.$/, `${key}: ${code}`)
      const described = responses[errors[code as ErrorCode]]!.description
      assert.ok(described.includes(`\`${code}\`: ${sentence}`), `${key}: ${code}`)
    }
  }
})

test('has each schema once, and only schemas that a route uses', () => {
  const { schemas } = JSON.parse(text).components as { schemas: Record<string, unknown> }
  for (const name of Object.keys(schemas)) {
    assert.not.match(name, /Input$/)
    assert.ok(text.includes(`"#/components/schemas/${name}"`), name)
  }
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) assert.ok(schemas[name!], name)
})

type Schema = { readonly [key: string]: unknown; readonly properties?: Readonly<Record<string, Schema>> }

/** The properties below a schema or anything that holds schemas, that nothing describes: neither they nor what they are. */
const undescribed = (node: unknown, path: string, components: Readonly<Record<string, Schema>>): string[] => {
  if (typeof node !== 'object' || node === null) return []
  const { properties = {} } = node as Schema
  const here = Object.entries(properties).filter(([, { description, $ref }]) => {
    const kind = typeof $ref === 'string' ? components[$ref.split('/').at(-1)!] : undefined
    return !description && !kind?.description
  })
  const below = Object.entries(node).filter(([key]) => key !== 'example' && key !== 'examples')
  return [
    ...here.map(([name]) => `${path}.${name}`),
    ...below.flatMap(([key, child]) => undescribed(child, `${path}/${key}`, components)),
  ]
}

test('describes every property of every schema, body and answer', () => {
  const { schemas } = JSON.parse(text).components as { schemas: Record<string, Schema> }
  assert.equal(undescribed(schemas, '', schemas), [])
  for (const [name, operation] of operations) assert.equal(undescribed(operation, name, schemas), [])
  const [kind] = Object.keys(schemas)
  assert.equal(undescribed({ properties: { a: {}, b: { $ref: `#/${kind}` } } }, 'x', schemas), ['x.a'])
})

test('gives the unit of every time', () => {
  const { schemas } = JSON.parse(text).components as { schemas: Record<string, Schema> }
  for (const [name, { properties = {} }] of Object.entries(schemas))
    for (const [property, { type, description }] of Object.entries(properties))
      if (type === 'integer' && property.endsWith('At'))
        assert.match(String(description), 'milliseconds since 1970', `${name}.${property}`)
})

test('leaves room for new optional fields', () => {
  assert.not.match(text, /"additionalProperties":false/)
})

test('comes with a reference that loads everything from the service itself', async () => {
  const page = await app.inject('/docs/')
  assert.is(page.statusCode, 200)
  const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!)
  assert.ok(assets.length >= 5)
  for (const address of assets) {
    const { pathname, origin } = new URL(address, 'http://here/docs/')
    assert.is(origin, 'http://here', address)
    assert.is((await app.inject(pathname)).statusCode, 200, address)
  }
  const { body: start } = await app.inject('/docs/static/swagger-initializer.js')
  assert.match(start, '"validatorUrl":null')
  assert.not.match(start, /["']https?:/)
})

test('every route of a trace has the parameter `namespace`', () => {
  const ofTraces = [...operations].filter(([name]) => / \/v1\/traces\/\{externalId\}/.test(name))
  assert.ok(ofTraces.length > 10)
  for (const [name, { parameters = [] }] of [
    ...ofTraces,
    ['post /v1/traces', operations.get('post /v1/traces')!] as const,
  ])
    assert.ok(
      parameters.some((parameter) => parameter.name === 'namespace'),
      name,
    )
})

test.run()
