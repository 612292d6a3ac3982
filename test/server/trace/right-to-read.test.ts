import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toHttpError } from '../../../src/server/http/errors.ts'
import { locateToRead } from '../../../src/server/trace/locate.ts'
import { checkRight } from '../../../src/server/trace/right-to-read.ts'
import { sharedWorld, signIn } from '../../support/world.ts'

const test = suite('trace/right-to-read')

const { node } = await sharedWorld()
const owner = await signIn(node)

/** A public trace, the check of a reader without a session that has begun to read it, and what this says. */
const reading = async () => {
  const externalId = randomUUID()
  const url = `/v1/traces/${externalId}`
  const create = () => owner.ask('PUT', url, { visibility: 'public' })
  await create()
  await owner.ask('PUT', `${url}/messages/m`, { role: 'user', textContent: 'one' })
  const { reads } = node.service
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
  await owner.ask('POST', `${url}/history/erase`, {})
  assert.is(await said(), 'unavailable')
  await owner.ask('PATCH', url, { visibility: 'private' })
  assert.is(await said(), 'unauthorized', 'who has lost the right learns nothing else')
})

test('a trace that is deleted while it is read is gone, also if another one has its name', async () => {
  const { url, create, said } = await reading()
  await owner.ask('DELETE', url)
  assert.is(await said(), 'not_found')
  await create()
  assert.is(await said(), 'not_found')
})

test.run()
