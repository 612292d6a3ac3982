import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Unavailable } from '../../src/engine/rejected.ts'
import { newRoom } from '../../src/http/room.ts'

const test = suite('http: room for long lists')

const nobody = () => {}

test('is given in turn, and to the next one when it is given back', async () => {
  const room = newRoom({ size: 10, makeRoom: nobody, full: 'full' })
  const first = await room.take(6)
  const order: string[] = []
  const large = room.take(5).then((share) => (order.push('large'), share))
  const small = room.take(1).then((share) => (order.push('small'), share))
  first.resize(9)
  first.giveBack()
  const shares = await Promise.all([large, small])
  assert.equal(order, ['large', 'small'])
  assert.is(shares[0].size(), 5)
  for (const share of shares) share.giveBack()
  assert.is((await room.take(10)).size(), 10)
})

test('is all of it at most, and can hold more than was asked for', async () => {
  const room = newRoom({ size: 10, makeRoom: nobody, full: 'full' })
  const share = await room.take(50)
  assert.is(share.size(), 10)
  share.resize(30)
  const next = room.take(1)
  share.giveBack()
  share.resize(30)
  assert.is((await next).size(), 1)
})

test('is asked for when somebody waits, and refused after a while', async () => {
  const missing: number[] = []
  const room = newRoom({ size: 10, makeRoom: (size) => void missing.push(size), patienceMs: 50, full: 'full' })
  const share = await room.take(8)
  const error = await room.take(5).catch((thrown: unknown) => thrown)
  assert.instance(error, Unavailable)
  assert.is(missing[0], 3)
  share.giveBack()
  assert.is((await room.take(10)).size(), 10)
})

test.run()
