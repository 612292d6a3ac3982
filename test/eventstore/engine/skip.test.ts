import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldStream } from '../../../src/eventstore/engine/fold.ts'
import { skipEvent } from '../../../src/eventstore/engine/skip.ts'
import { UNSKIPPABLE } from '../../../src/server/events.ts'
import { users } from '../../../src/server/user/decide.ts'
import { errorOf } from '../log/support/events.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('engine/skip')
const { node } = await openWorld(test)
const { log, codec } = node.service
const { userId, send, newTrace } = await signIn(node)
const skip = ({ stream, position }: { stream: string; position: bigint }) =>
  skipEvent(log, codec, { stream, position, by: 'ada', why: 'wrong', now: Date.now, unskippable: UNSKIPPABLE })

const lastOf = async (stream: string) => {
  let last = 0n
  for await (const { position } of log.read(stream)) last = position
  return { stream, position: last }
}

test('a skipped event counts in no decision, though it could be read', async () => {
  for (const displayName of ['Ada', 'Bob']) await send('PATCH', '/v1/user', { displayName })
  await skip(await lastOf(`user-${userId}`))
  const { state } = await foldStream(users, log, codec, userId)
  assert.is(state.is === 'present' && state.displayName, 'Ada')
})

test('a position without an event of the stream is refused', async () => {
  const { stream, position } = await lastOf(`user-${userId}`)
  assert.match(((await errorOf(skip({ stream, position: position + 1n }))) as Error).message, `no event of ${stream}`)
})

test('a deletion cannot be skipped', async () => {
  const { id, url } = await newTrace()
  await send('DELETE', url)
  const error = await errorOf(skip(await lastOf(`trace-${id}`)))
  assert.match((error as Error).message, 'a deletion must not be skipped')
})

test.run()
