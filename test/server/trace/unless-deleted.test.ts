import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { type Answer, openApp } from '../../support/open-app.ts'

/** What was deleted does not come back by itself. */
const test = suite('trace/unlessDeleted')

const database = await freshDatabase()
let time = Date.now()
const { call, close } = await openApp(database.url, { now: () => (time += 1_000) })
test.after(async () => {
  await close()
  await database.drop()
})

type Session = { readonly token: string; readonly namespaceSlug: string }

const signIn = async () => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  return (data as { session: Session }).session
}

/** Makes a namespace with the session's user as its admin; gives its slug. */
const newTeam = async ({ token }: Session) => {
  const slug = `team-${randomUUID().slice(0, 13)}`
  await call('POST', '/v1/namespaces', { token, body: { slug, displayName: 'Team' } })
  return slug
}

const METHODS = ['PUT', 'POST'] as const
const ASKED = 'unlessDeleted=true'

const save = (method: (typeof METHODS)[number], externalId: string, token: string, query = ASKED, body: object = {}) =>
  method === 'PUT'
    ? call('PUT', `/v1/traces/${externalId}?${query}`, { token, body })
    : call('POST', `/v1/traces?${query}`, { token, body: { externalId, ...body } })

const remove = async (externalId: string, token: string, query = '') =>
  assert.is((await call('DELETE', `/v1/traces/${externalId}?${query}`, { token })).status, 200)

const told = ({ status, error }: Answer) => [status, error?.code]

/** Asserts a refusal; gives the time of the deletion. */
const deletedAt = (answer: Answer): number => {
  assert.equal(told(answer), [410, 'deleted'])
  const { details } = answer.error as unknown as { details: { deletedAt: number } }
  assert.equal(Object.keys(details), ['deletedAt'])
  return details.deletedAt
}

for (const method of METHODS) {
  test(`${method}: a deleted trace is not created again, and the error has the time of its last deletion`, async () => {
    const [{ token }, externalId] = [await signIn(), randomUUID()]
    assert.is((await save(method, externalId, token)).status, 200, 'it never was there')
    assert.is((await save(method, externalId, token)).status, 200, 'it is there')
    const times: number[] = []
    for (const query of ['', 'unlessDeleted=false']) {
      const before = time
      await remove(externalId, token)
      times.push(deletedAt(await save(method, externalId, token)))
      assert.ok(times.at(-1)! > before && times.at(-1)! < time)
      assert.is((await call('GET', `/v1/traces/${externalId}`, { token })).status, 404, 'no trace was created')
      assert.is((await save(method, externalId, token, query)).status, 200)
      assert.is((await save(method, externalId, token)).status, 200, 'it is there again')
    }
    assert.ok(times[0]! < times[1]!)
  })

  test(`${method}: the namespace that is written to is checked before traces of others are searched`, async () => {
    const [ada, eve, externalId] = [await signIn(), await signIn(), randomUUID()]
    await save(method, externalId, ada.token)
    await remove(externalId, ada.token)
    await save(method, externalId, eve.token, '')
    assert.equal(told(await save(method, externalId, ada.token, '')), [404, 'not_found'], 'a stranger has one')
    deletedAt(await save(method, externalId, ada.token))
    await call('POST', '/v1/session/switch', { token: ada.token, body: { slug: await newTeam(ada) } })
    assert.equal(told(await save(method, externalId, ada.token)), [404, 'not_found'], 'nothing was deleted here')
  })

  test(`${method}: only members learn of a deletion in the named namespace`, async () => {
    const [ada, eve, externalId] = [await signIn(), await signIn(), randomUUID()]
    const team = await newTeam(ada)
    await save(method, externalId, ada.token, `namespace=${team}`)
    await remove(externalId, ada.token, `namespace=${team}`)
    deletedAt(await save(method, externalId, ada.token, `${ASKED}&namespace=${team}`))
    assert.equal(told(await save(method, externalId, eve.token, `${ASKED}&namespace=${team}`)), [404, 'not_found'])
    assert.is((await save(method, externalId, ada.token)).status, 200, 'not deleted in the namespace of the session')
  })

  test(`${method}: unlessDeleted must be true or false, and given once`, async () => {
    const { token } = await signIn()
    for (const query of ['unlessDeleted=', 'unlessDeleted=1', 'unlessDeleted=TRUE', `${ASKED}&${ASKED}`])
      assert.equal(told(await save(method, randomUUID(), token, query)), [400, 'invalid_request'], query)
  })
}

test('other routes ignore unlessDeleted', async () => {
  const [{ token }, externalId] = [await signIn(), randomUUID()]
  await save('PUT', externalId, token)
  const path = `/v1/traces/${externalId}`
  assert.is((await call('PATCH', `${path}?unlessDeleted=1`, { token, body: {} })).status, 200)
  assert.is((await call('DELETE', `${path}?${ASKED}`, { token })).status, 200)
  assert.equal(told(await call('PATCH', `${path}?${ASKED}`, { token, body: {} })), [404, 'not_found'])
})

test.run()
