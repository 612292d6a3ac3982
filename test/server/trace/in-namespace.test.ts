import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { type Answer, type Call, openApp } from '../../support/open-app.ts'

const test = suite('writes to a trace of the named namespace')

const database = await freshDatabase()
const { call, close } = await openApp(database.url)
test.after(async () => {
  await close()
  await database.drop()
})

type Detail = { trace: { id: string; title?: string; messageCount?: number; namespace: { slug: string } } }
type Session = { readonly token: string; readonly namespaceSlug: string }

const signIn = async () => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  return (data as { session: Session }).session
}

const newTeam = async (token: string) => {
  const slug = `team-${randomUUID().slice(0, 13)}`
  await call('POST', '/v1/namespaces', { token, body: { slug, displayName: 'Team' } })
  return slug
}

const trace = ({ status, data, error }: Answer) => {
  assert.is(status, 200, JSON.stringify(error))
  return (data as Detail).trace
}

const message = { externalId: 'm', role: 'user', textContent: 'words' }

/** Each write to a trace that is there: method, path behind the trace's, and body. */
const writes: readonly (readonly [Parameters<Call>[0], string, object | undefined])[] = [
  ['PUT', '', { title: 'Put' }],
  ['PATCH', '', { title: 'Patched' }],
  ['PUT', '/messages/m', { role: 'user', textContent: 'words' }],
  ['POST', '/messages/batch', { messages: [{ ...message, externalId: 'n' }] }],
  ['DELETE', '', undefined],
]

test('a write goes to the trace of that namespace, although the session’s namespace has one with the same external id', async () => {
  const [{ token, namespaceSlug: home }, externalId] = [await signIn(), randomUUID()]
  const [team, path] = [await newTeam(token), `/v1/traces/${externalId}`]
  const read = async (slug: string) => trace(await call('GET', `${path}?namespace=${slug}`, { token }))
  trace(await call('PUT', path, { token, body: { title: 'Home' } }))
  const before = await read(home)
  const made = trace(await call('POST', `/v1/traces?namespace=${team}`, { token, body: { externalId } }))
  assert.is(made.namespace.slug, team)
  for (const [method, rest, body] of writes) {
    const answer = await call(method, `${path}${rest}?namespace=${team}`, { token, body })
    assert.is(answer.status, 200, `${method} ${rest}: ${JSON.stringify(answer.error)}`)
    if (method === 'POST') assert.equal([(await read(team)).title, (await read(team)).messageCount], ['Patched', 2])
  }
  assert.is((await call('GET', `${path}?namespace=${team}`, { token })).status, 404)
  assert.equal(await read(home), before)
  assert.is(trace(await call('PATCH', `${path}?namespace=${home}`, { token, body: {} })).id, before.id)
})

test('a namespace without such a trace, an unknown one and one of others give the same error', async () => {
  const [ada, eve] = [await signIn(), await signIn()]
  const path = `/v1/traces/${randomUUID()}`
  trace(await call('PUT', path, { token: eve.token, body: { visibility: 'public' } }))
  const ours = await newTeam(ada.token)
  for (const slug of [ours, 'not-there', 'no--slug', eve.namespaceSlug])
    for (const [method, rest, body] of writes) {
      if (method === 'PUT' && rest === '' && slug === ours) continue // makes one
      const { status, error } = await call(method, `${path}${rest}?namespace=${slug}`, { token: ada.token, body })
      assert.equal([status, error.message], [404, 'Not found'], `${method} ${rest} in ${slug}`)
    }
})

test.run()
