import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  Busy,
  type Client,
  type Permit,
  type Permits,
  type PermitsOptions,
  newPermits,
} from '../../src/base/permits.ts'

const test = suite('permits')

const net = (name: string): Client => ({ id: `net:${name}`, net: `net:${name}` })
const user = (name: string, of = 'a'): Client => ({ id: `user:${name}`, net: `net:${of}` })
const some = (options: Partial<PermitsOptions> = {}) => newPermits({ capacity: 10, things: 'bodies', ...options })
const flush = () => new Promise((resolve) => setImmediate(resolve))

const ticks = (permits: Permits, count: number, between: () => void = () => {}) => {
  for (let i = 0; i < count; i++) {
    between()
    permits.tick()
  }
}

test('acquire waits for room, and takes at most the whole capacity', async () => {
  const permits = some()
  const first = await permits.acquire(net('a'), 50)
  assert.is(first.size(), 10)
  assert.is(permits.tryAcquire(net('b'), 1), undefined)
  const next = permits.acquire(net('b'), 4)
  assert.is(permits.waiting(), 1)
  first.resize(6)
  assert.is((await next).size(), 4)
  first.release()
  first.resize(3) // comes too late
  assert.is(permits.held(), 4)
})

test('free room goes to the net that holds least, in it to the client that holds least, and among equals to the one served longest ago', async () => {
  const permits = some({ capacity: 1 })
  const served: string[] = []
  const ask = (client: Client, name: string) =>
    permits.acquire(client, 1).then((permit) => (served.push(name), permit.release()))
  const first = permits.tryAcquire(user('z'), 1)!
  const all = ['a1', 'a2', 'a3'].map((name) => ask(user('a'), name))
  all.push(ask(user('b'), 'b1'), ask(user('c', 'other'), 'c1'), ask(user('c', 'other'), 'c2'), ask(user('b'), 'b2'))
  first.release()
  await Promise.all(all)
  assert.equal(served, ['a1', 'c1', 'b1', 'c2', 'a2', 'b2', 'a3'])
})

test('first is the client that would be served first', async () => {
  const permits = some()
  permits.tryAcquire(user('a', 'large'), 5)
  permits.tryAcquire(user('b', 'small'), 1)
  permits.tryAcquire(user('c', 'small'), 2)
  const [b, c] = [user('b', 'small'), user('c', 'small')]
  assert.equal(permits.first([user('a', 'large'), c, b]), b)
  assert.equal(permits.first([c, user('d', 'new')]), user('d', 'new'))
})

test('hold may exceed the capacity, and others wait for it', async () => {
  const permits = some()
  const large = permits.hold(net('a'), 15)
  assert.is(permits.held(), 15)
  const next = permits.acquire(net('b'), 10)
  large.release()
  assert.is((await next).size(), 10)
})

test('a wait ends after some ticks, and with its signal', async () => {
  const permits = some({ waitTicks: 3 })
  const permit = permits.tryAcquire(net('a'), 8)!
  const refused = permits.acquire(net('b'), 5).catch((error: unknown) => error)
  ticks(permits, 4)
  assert.instance(await refused, Busy)
  const gone = new AbortController()
  const aborted = permits.acquire(net('b'), 5, undefined, gone.signal).catch((error: unknown) => error)
  const reason = new Error('gone')
  gone.abort(reason)
  assert.is(await aborted, reason)
  permit.release()
  assert.is((await permits.acquire(net('b'), 10)).size(), 10)
})

/** Holds so much, and gives the reasons why it had to yield. */
const holder = (permits: Permits, client: Client, size: number) => {
  const yielded: unknown[] = []
  const permit = permits.tryAcquire(client, size, (reason) => void yielded.push(reason))!
  return { permit, yielded }
}

test('while others wait, slow holders yield: first the one that would take longest to move what it holds', async () => {
  const permits = some({ minPace: 2 })
  const [fast, slow, slower] = [user('fast'), user('slow'), user('slower')].map((one) => holder(permits, one, 3))
  ticks(permits, 10, () => {
    fast!.permit.moved(2)
    slow!.permit.moved(1)
  })
  assert.equal([fast!.yielded, slow!.yielded, slower!.yielded], [[], [], []], 'nobody waits')
  const one = permits.acquire(user('new'), 4)
  assert.is(slower!.yielded.length, 1)
  assert.equal(slow!.yielded, [])
  await one
  const two = permits.acquire(user('newer'), 1)
  assert.is(slow!.yielded.length, 1)
  await two
  const three = permits.acquire(user('newest'), 5)
  await flush()
  assert.equal([fast!.yielded, permits.waiting()], [[], 1])
  fast!.permit.release()
  await three
})

test('a holder that has moved nothing for too long yields, even if none waits, unless it waits for the service', () => {
  const permits = some({ silentTicks: 3 })
  const [moving, resting, silent] = ['moving', 'resting', 'silent'].map((name) => holder(permits, user(name), 2))
  const forced = permits.hold(user('forced'), 1)
  resting!.permit.rest()
  ticks(permits, 2)
  silent!.permit.moved(1)
  ticks(permits, 3, () => moving!.permit.moved(1))
  assert.is(silent!.yielded.length, 0)
  ticks(permits, 1, () => moving!.permit.moved(1))
  assert.equal([moving!.yielded.length, resting!.yielded.length, silent!.yielded.length], [0, 0, 1])
  assert.match((silent!.yielded[0] as Busy).message, 'Nothing has moved for 0.6 s of your bodies')
  assert.is(permits.held(), 5)
  forced.release()
})

test('a wait with a signal that has aborted before does not begin', async () => {
  const permits = some()
  const held = permits.tryAcquire(net('a'), 10)!
  const reason = new Error('gone')
  const refused = () =>
    permits.acquire(net('b'), 1, undefined, AbortSignal.abort(reason)).catch((error: unknown) => error)
  assert.is(await refused(), reason)
  held.release()
  assert.is(await refused(), reason)
  assert.equal([permits.held(), permits.waiting()], [0, 0])
})

test('a holder that has just begun, or waits for the service, is not slow', async () => {
  const permits = some({ minPace: 2 })
  const resting = holder(permits, user('resting'), 5)
  ticks(permits, 10)
  resting.permit.rest()
  ticks(permits, 1)
  const begun = holder(permits, user('begun'), 5)
  void permits.acquire(user('new'), 1)
  ticks(permits, 4)
  assert.equal([resting.yielded, begun.yielded], [[], []])
  ticks(permits, 1)
  assert.equal([resting.yielded.length, begun.yielded.length], [0, 1])
})

test('a net that holds no more than its share does not yield to others', async () => {
  const permits = some({ minPace: 2 })
  const large = holder(permits, user('large', 'a'), 6)
  const small = holder(permits, user('small', 'b'), 3)
  ticks(permits, 6)
  void permits.acquire(user('new', 'c'), 3)
  assert.equal([large.yielded.length, small.yielded.length], [1, 0])
})

test('if holders have outgrown the capacity and none is slow, the oldest of the largest client yields', () => {
  const permits = some({ minPace: 2, grows: true })
  const hoarder = [1, 2, 3].map(() => holder(permits, user('hoarder'), 2))
  const other = holder(permits, user('other'), 3)
  other.permit.resize(5)
  assert.equal(
    [...hoarder, other].map(({ yielded }) => yielded.length),
    [1, 0, 0, 0],
  )
  assert.is(permits.held(), 9)
})

const CAPACITY = 100
const MIN_PACE = 4

type Step =
  | { readonly does: 'acquire'; readonly client: number; readonly size: number }
  | { readonly does: 'move' | 'grow'; readonly holder: number; readonly by: number }
  | { readonly does: 'rest' | 'release' | 'tick'; readonly holder: number }

const index = fc.nat(20)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('acquire' as const), client: fc.nat(8), size: fc.integer({ min: 0, max: 60 }) }),
  fc.record({ does: fc.constantFrom('move' as const, 'grow' as const), holder: index, by: fc.nat(30) }),
  fc.record({ does: fc.constantFrom('rest' as const, 'release' as const, 'tick' as const), holder: index }),
)

const clientOf = (i: number) => user(String(i), String(i % 3))

test('law: permits stay within the capacity, and all are released', async () => {
  const law = fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.boolean(), async (steps, grows) => {
    const permits = newPermits({ capacity: CAPACITY, things: 'bodies', minPace: MIN_PACE, grows, waitTicks: 10 })
    const held = new Set<Permit>()
    const acquire = (client: Client, size: number) => {
      let isOver = false
      let mine: Permit | undefined
      const onYield = () => {
        isOver = true
        if (mine) held.delete(mine)
      }
      void permits.acquire(client, size, onYield).then(
        (permit) => {
          mine = permit
          if (!isOver) held.add(permit)
        },
        () => {},
      )
    }
    for (const one of steps) {
      const permit = 'holder' in one ? [...held][one.holder % Math.max(1, held.size)] : undefined
      if (one.does === 'acquire') acquire(clientOf(one.client), one.size)
      else if (one.does === 'tick') permits.tick()
      else if (one.does === 'move') permit?.moved(one.by)
      else if (one.does === 'grow' && grows) permit?.resize(permit.size() + one.by)
      else if (one.does === 'rest') permit?.rest()
      else if (one.does === 'release' && permit) {
        permit.release()
        held.delete(permit)
      }
      await flush()
      assert.ok(permits.held() <= CAPACITY)
      assert.is(
        [...held].reduce((sum, { size }) => sum + size(), 0),
        permits.held(),
      )
    }
    while (held.size > 0 || permits.waiting() > 0) {
      for (const one of held) one.release()
      held.clear()
      permits.tick()
      await flush()
    }
    assert.is(permits.held(), 0)
  })
  await fc.assert(law, { numRuns: 300 })
})

test('law: one fair client gets its share within two seconds, however many hoard, and never has to yield', async () => {
  const hoarders = fc.array(fc.record({ user: fc.nat(200), net: fc.nat(3), pace: fc.nat(MIN_PACE - 1) }), {
    minLength: 1,
    maxLength: 60,
  })
  const law = fc.asyncProperty(hoarders, fc.boolean(), async (all, isNeighbour) => {
    const permits = newPermits({ capacity: CAPACITY, things: 'bodies', minPace: MIN_PACE, grows: true })
    const live = new Map<number, Permit>()
    const hoard = (i: number) => {
      const { user: name, net: of } = all[i]!
      const permit = permits.tryAcquire(user(String(name), String(of)), 1, () => live.delete(i))
      if (permit) live.set(i, permit)
    }
    /** Each grows a little in each tick, and comes again at once when it has had to yield. */
    const tick = () => {
      for (const [i, { pace }] of all.entries()) {
        if (!live.has(i)) hoard(i)
        live.get(i)?.moved(pace)
        live.get(i)?.resize((live.get(i)?.size() ?? 0) + 2)
      }
      permits.tick()
    }
    for (let i = 0; i < 30; i++) tick()
    const neighbours = new Set(all.filter((one) => isNeighbour && one.net === 0).map((one) => one.user))
    const nets = new Set(all.map((one) => one.net)).size + (neighbours.size === 0 ? 1 : 0)
    const share = CAPACITY / nets / (neighbours.size + 1)
    let got: Permit | undefined
    let isOver = false
    const honest = user('honest', isNeighbour ? '0' : 'honest')
    void permits.acquire(honest, share / 2, () => (isOver = true)).then((permit) => (got = permit))
    for (let i = 0; i < 10 && !got; i++) {
      tick()
      await flush()
    }
    assert.ok(got, 'it was admitted')
    for (let i = 0; i < 10; i++) {
      got.moved(2 * MIN_PACE)
      got.resize(Math.min(share, got.size() + 2))
      tick()
      assert.not(isOver)
    }
  })
  await fc.assert(law, { numRuns: 100 })
})

test.run()
