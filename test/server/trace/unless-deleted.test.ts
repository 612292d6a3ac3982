import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Answer } from '../../support/open-app.ts'
import { type Person, openWorld, signIn } from '../../support/world.ts'

/** What was deleted does not come back by itself. */
const test = suite('trace/unlessDeleted')

let time = Date.now()
const { node } = await openWorld(test, { now: () => (time += 1_000) })

const METHODS = ['PUT', 'POST'] as const
const ASKED = 'unlessDeleted=true'

const save = (
  method: (typeof METHODS)[number],
  externalId: string,
  { ask }: Person,
  query = ASKED,
  body: object = {},
) =>
  method === 'PUT'
    ? ask('PUT', `/v1/traces/${externalId}?${query}`, body)
    : ask('POST', `/v1/traces?${query}`, { externalId, ...body })

const remove = (externalId: string, { send }: Person, query = '') => send('DELETE', `/v1/traces/${externalId}?${query}`)

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
    const [ada, externalId] = [await signIn(node), randomUUID()]
    assert.is((await save(method, externalId, ada)).status, 200, 'it never was there')
    assert.is((await save(method, externalId, ada)).status, 200, 'it is there')
    const times: number[] = []
    for (const query of ['', 'unlessDeleted=false']) {
      const before = time
      await remove(externalId, ada)
      times.push(deletedAt(await save(method, externalId, ada)))
      assert.ok(times.at(-1)! > before && times.at(-1)! < time)
      assert.is((await ada.ask('GET', `/v1/traces/${externalId}`)).status, 404, 'no trace was created')
      assert.is((await save(method, externalId, ada, query)).status, 200)
      assert.is((await save(method, externalId, ada)).status, 200, 'it is there again')
    }
    assert.ok(times[0]! < times[1]!)
  })

  test(`${method}: the namespace that is written to is checked before traces of others are searched`, async () => {
    const [ada, eve, externalId] = [await signIn(node), await signIn(node), randomUUID()]
    await save(method, externalId, ada)
    await remove(externalId, ada)
    await save(method, externalId, eve, '')
    assert.equal(told(await save(method, externalId, ada, '')), [404, 'not_found'], 'a stranger has one')
    deletedAt(await save(method, externalId, ada))
    await ada.ask('POST', '/v1/session/switch', { slug: (await ada.newTeam()).slug })
    assert.equal(told(await save(method, externalId, ada)), [404, 'not_found'], 'nothing was deleted here')
  })

  test(`${method}: only members learn of a deletion in the named namespace`, async () => {
    const [ada, eve, externalId] = [await signIn(node), await signIn(node), randomUUID()]
    const { slug: team } = await ada.newTeam()
    await save(method, externalId, ada, `namespace=${team}`)
    await remove(externalId, ada, `namespace=${team}`)
    deletedAt(await save(method, externalId, ada, `${ASKED}&namespace=${team}`))
    assert.equal(told(await save(method, externalId, eve, `${ASKED}&namespace=${team}`)), [404, 'not_found'])
    assert.is((await save(method, externalId, ada)).status, 200, 'not deleted in the namespace of the session')
  })

  test(`${method}: unlessDeleted must be true or false, and given once`, async () => {
    const ada = await signIn(node)
    for (const query of ['unlessDeleted=', 'unlessDeleted=1', 'unlessDeleted=TRUE', `${ASKED}&${ASKED}`])
      assert.equal(told(await save(method, randomUUID(), ada, query)), [400, 'invalid_request'], query)
  })
}

test('other routes ignore unlessDeleted', async () => {
  const [ada, externalId] = [await signIn(node), randomUUID()]
  await save('PUT', externalId, ada)
  const path = `/v1/traces/${externalId}`
  await ada.send('PATCH', `${path}?unlessDeleted=1`, {})
  await ada.send('DELETE', `${path}?${ASKED}`)
  assert.equal(told(await ada.ask('PATCH', `${path}?${ASKED}`, {})), [404, 'not_found'])
})

test.run()
