import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Client, type Permits, newPermits } from '../../../src/base/permits.ts'
import { type SharedBytes, newSharedBytes } from '../../../src/server/realtime/shared-bytes.ts'

const test = suite('realtime: the bytes of a value')

const LARGE = 100_000
const value = 'x'.repeat(LARGE)
const room = (count: number) => newPermits({ capacity: count * LARGE, things: 'values', minPace: 1_000 })
const flush = () => new Promise((resolve) => setImmediate(resolve))
const net = (name: string): Client => ({ id: name, net: name })

/** A connection that wants a value: what it is told. */
const receiverOf = (client: Client) => {
  const told: string[] = []
  return { told, client: () => client, onRoom: () => told.push('room'), onYield: () => told.push('yield') }
}

/** Asks for the bytes until they are there. */
const sending = async (bytes: SharedBytes, client: Client) => {
  const receiver = receiverOf(client)
  if (!bytes.join(receiver)) {
    await flush()
    assert.ok(bytes.join(receiver))
  }
  bytes.moved(receiver, 0)
  return receiver
}

const ticks = (permits: Permits, count: number) => {
  for (let i = 0; i < count; i++) permits.tick()
}

test('of a small value neither wait nor count', () => {
  const permits = room(1)
  const bytes = newSharedBytes('{}', permits)
  assert.is(bytes.join(receiverOf(net('a')))?.toString(), '{}')
  assert.is(permits.held(), 0)
})

test('are created once there is room, once for all, and counted until the last receiver has them', async () => {
  const permits = room(1)
  const other = permits.tryAcquire(net('other'), LARGE)!
  const bytes = newSharedBytes(value, permits)
  const all = ['a', 'a', 'b'].map((name) => receiverOf(net(name)))
  for (const one of all) assert.is(bytes.join(one), undefined)
  assert.is(permits.held(), LARGE, 'nothing is made before')
  other.release()
  await flush()
  assert.equal(
    all.map(({ told }) => told),
    [['room'], ['room'], ['room']],
  )
  const made = all.map((one) => bytes.join(one))
  assert.ok(made[0] && made.every((one) => one === made[0]))
  for (const one of all.slice(0, 2)) bytes.leave(one)
  assert.is(permits.held(), LARGE)
  bytes.leave(all[2]!)
  assert.is(permits.held(), 0)
})

test('wait in the place of the receiver that is served first', async () => {
  const permits = room(3)
  for (const name of ['large', 'x']) permits.tryAcquire(net(name), LARGE)
  const other = permits.tryAcquire(net('other'), LARGE)!
  const [first, second] = [newSharedBytes(value, permits), newSharedBytes(value, permits)]
  const [one, two, three] = [receiverOf(net('large')), receiverOf(net('x')), receiverOf(net('new'))]
  first.join(one)
  second.join(two)
  first.join(three)
  other.release()
  await flush()
  assert.equal([one.told, two.told, three.told], [['room'], [], ['room']])
})

test('a receiver that leaves delays nobody', async () => {
  const permits = room(1)
  const other = permits.tryAcquire(net('other'), LARGE)!
  const [first, second] = [newSharedBytes(value, permits), newSharedBytes(value, permits)]
  const [one, two] = [receiverOf(net('a')), receiverOf(net('b'))]
  first.join(one)
  second.join(two)
  first.leave(one)
  other.release()
  await flush()
  assert.equal([one.told, two.told, permits.held()], [[], ['room'], LARGE])
})

test('while others wait, receivers of a network that reads too slowly are cut off, and the rest go on', async () => {
  const permits = room(1)
  const bytes = newSharedBytes(value, permits)
  const slow = [await sending(bytes, net('a')), await sending(bytes, { id: 'user of a', net: 'a' })]
  const fast = await sending(bytes, net('b'))
  ticks(permits, 5)
  const next = newSharedBytes(value, permits)
  const waiting = receiverOf(net('c'))
  next.join(waiting)
  assert.equal(
    [...slow, fast].map(({ told }) => told.includes('yield')),
    [true, true, false],
  )
  assert.is(permits.held(), LARGE, 'the rest holds them')
  bytes.moved(fast, LARGE)
  bytes.leave(fast)
  await flush()
  assert.equal(waiting.told, ['room'])
})

test('the receiver that counts is the last that holds them, not the first they were sent to', async () => {
  const permits = room(1.5)
  const bytes = newSharedBytes(value, permits)
  const [fast, slow] = [await sending(bytes, net('fast')), await sending(bytes, net('slow'))]
  bytes.moved(fast, LARGE)
  bytes.leave(fast)
  assert.equal(permits.first([net('slow'), net('fast')]), net('fast'))
  ticks(permits, 5)
  newSharedBytes('y'.repeat(2 * LARGE), permits).join(receiverOf(net('new')))
  assert.is(slow.told.at(-1), 'yield')
  assert.is(permits.waiting(), 0)
})

test('receivers that still wait get their own place once the first have gone', async () => {
  const permits = room(2)
  const [hoard, other] = [permits.tryAcquire(net('hoarder'), LARGE)!, permits.tryAcquire(net('x'), LARGE)!]
  const [first, second] = [newSharedBytes(value, permits), newSharedBytes(value, permits)]
  const [gone, waiting, later] = [receiverOf(net('hoarder')), receiverOf(net('b')), receiverOf(net('c'))]
  first.join(gone)
  second.join(later)
  const held = permits.hold(net('b'), 1)
  first.join(waiting)
  held.release()
  first.leave(gone)
  other.release()
  await flush()
  assert.equal([gone.told, [...waiting.told, ...later.told]], [[], ['room']])
  hoard.release()
  await flush()
  assert.equal([waiting.told, later.told], [['room'], ['room']])
})

test('a receiver that waits for the service is not slow', async () => {
  const permits = room(1)
  const bytes = newSharedBytes(value, permits)
  const one = await sending(bytes, net('a'))
  bytes.rest(one)
  ticks(permits, 10)
  newSharedBytes(value, permits).join(receiverOf(net('b')))
  assert.not(one.told.includes('yield'))
  bytes.moved(one, 0)
  ticks(permits, 6)
  assert.ok(one.told.includes('yield'))
})

test.run()
