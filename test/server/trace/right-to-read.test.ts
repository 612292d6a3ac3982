import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { toHttpError } from '../../../src/server/http/errors.ts'
import { locateToRead } from '../../../src/server/trace/locate.ts'
import { checkRight } from '../../../src/server/trace/right-to-read.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'

const test = suite('trace/right-to-read')

const database = await freshDatabase()
const app = await openApp(database.url)
test.after(async () => {
  await app.close()
  await database.drop()
})
const { data } = await app.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
const { token } = (data as { session: NewSession }).session

/** A public trace, the check of a reader without a session that has begun to read it, and what this says. */
const reading = async () => {
  const externalId = randomUUID()
  const url = `/v1/traces/${externalId}`
  const create = () => app.call('PUT', url, { token, body: { visibility: 'public' } })
  await create()
  await app.call('PUT', `${url}/messages/m`, { token, body: { role: 'user', textContent: 'one' } })
  const { reads } = app.service
  const { trace, reader } = await locateToRead(reads, { externalId }, undefined)
  const said = async () => {
    try {
      await checkRight(reads, reader, trace.incarnation)
      return 'may read'
    } catch (error) {
      return toHttpError(error).code
    }
  }
  return { url, create, said }
}

test('a trace whose past is erased while it is read is still there: its reader is told to ask again', async () => {
  const { url, said } = await reading()
  assert.is(await said(), 'may read')
  await app.call('POST', `${url}/history/erase`, { token, body: {} })
  assert.is(await said(), 'unavailable')
  await app.call('PATCH', url, { token, body: { visibility: 'private' } })
  assert.is(await said(), 'unauthorized', 'who has lost the right learns nothing else')
})

test('a trace that is deleted while it is read is gone, also if another one has its name', async () => {
  const { url, create, said } = await reading()
  await app.call('DELETE', url, { token })
  assert.is(await said(), 'not_found')
  await create()
  assert.is(await said(), 'not_found')
})

test.run()
