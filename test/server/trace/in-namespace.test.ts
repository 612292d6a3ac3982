import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Answer, type Call } from '../../support/open-app.ts'
import { sharedWorld, signIn } from '../../support/world.ts'

const test = suite('writes to a trace of the named namespace')

const { node } = await sharedWorld()

type Detail = { trace: { id: string; title?: string; messageCount?: number; namespace: { slug: string } } }

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
  const ada = await signIn(node)
  const [home, externalId] = [ada.namespaceSlug, randomUUID()]
  const [{ slug: team }, path] = [await ada.newTeam(), `/v1/traces/${externalId}`]
  const read = async (slug: string) => trace(await ada.ask('GET', `${path}?namespace=${slug}`))
  trace(await ada.ask('PUT', path, { title: 'Home' }))
  const before = await read(home)
  const made = trace(await ada.ask('POST', `/v1/traces?namespace=${team}`, { externalId }))
  assert.is(made.namespace.slug, team)
  for (const [method, rest, body] of writes) {
    const answer = await ada.ask(method, `${path}${rest}?namespace=${team}`, body)
    assert.is(answer.status, 200, `${method} ${rest}: ${JSON.stringify(answer.error)}`)
    if (method === 'POST') assert.equal([(await read(team)).title, (await read(team)).messageCount], ['Patched', 2])
  }
  assert.is((await ada.ask('GET', `${path}?namespace=${team}`)).status, 404)
  assert.equal(await read(home), before)
  assert.is(trace(await ada.ask('PATCH', `${path}?namespace=${home}`, {})).id, before.id)
})

test('a namespace without such a trace, an unknown one and one of others give the same error', async () => {
  const [ada, eve] = [await signIn(node), await signIn(node)]
  const path = `/v1/traces/${randomUUID()}`
  trace(await eve.ask('PUT', path, { visibility: 'public' }))
  const { slug: ours } = await ada.newTeam()
  for (const slug of [ours, 'not-there', 'no--slug', eve.namespaceSlug])
    for (const [method, rest, body] of writes) {
      if (method === 'PUT' && rest === '' && slug === ours) continue // makes one
      const { status, error } = await ada.ask(method, `${path}${rest}?namespace=${slug}`, body)
      assert.equal([status, error.message], [404, 'Not found'], `${method} ${rest} in ${slug}`)
    }
})

test.run()
