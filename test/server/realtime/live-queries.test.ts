import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Answer, SeenState } from '../../../src/server/realtime/answer.ts'
import { newPermits } from '../../../src/base/permits.ts'
import { type LiveQueriesOptions, newLiveQueries } from '../../../src/server/realtime/live-queries.ts'
import { until } from '../../support/until.ts'

const test = suite('realtime: live queries')

const client = () => ({ id: 'net:a', net: 'net:a' })
const permits = {
  reads: newPermits({ capacity: 8, things: 'queries' }),
  frames: newPermits({ capacity: 1_000_000, things: 'values' }),
}

/** Things are told from lists by their ids. */
const topicOf = (name: string) => `00000000-0000-0000-0000-00000000000${name}`

/**
 * A log whose events set things to values, or take the right to see them, and read models that follow when they are told
 * to. Positions count from 1.
 */
const newWorld = (options: Partial<LiveQueriesOptions> = {}) => {
  type Thing = { readonly value: number; readonly isHidden: boolean }
  const history: Map<string, Thing>[] = [new Map()]
  let shown = 0
  let asked = 0
  let isSlow = false
  const waiting: (() => void)[] = []
  let behind: { readonly position: number; readonly caughtUp: () => void }[] = []
  const live = newLiveQueries({
    readModelsPosition: () => BigInt(shown),
    lastSeen: () => BigInt(history.length - 1),
    caughtUp: (position) =>
      new Promise<void>((caughtUp) => {
        if (shown >= Number(position)) caughtUp()
        else behind.push({ position: Number(position), caughtUp })
      }),
    isCurrent: () => true,
    permits,
    ...options,
  })

  const write = (name: string, change: Partial<Thing>) => {
    const before = history.at(-1)!
    const thing = { value: 0, isHidden: false, ...before.get(name), ...change }
    history.push(new Map(before).set(name, thing))
    live.observe({
      position: BigInt(history.length - 1),
      topics: [topicOf(name)],
      takesRight: change.isHidden === true,
    })
  }

  const queryOf = (name: string) => ({
    key: name,
    ask: async (): Promise<Answer> => {
      asked += 1
      const thing = history[shown]!.get(name)
      if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve))
      const value = !thing || thing.isHidden ? 'null' : String(thing.value)
      return { value, topics: [topicOf(name)] }
    },
  })

  /** Takes each value as soon as there is one. */
  const watch = (name: string, of = client) => {
    const values: string[] = []
    const failures: unknown[] = []
    let sent: string | undefined
    const take = () => {
      const current = subscription.current()
      if (!current || current.digest === sent) return
      sent = current.digest
      values.push(current.answer.value)
    }
    const subscription = live.watch(queryOf(name), {
      client: of,
      changed: take,
      failed: (error) => failures.push(error),
    })
    return { values, failures, current: () => subscription.current()?.answer.value, stop: subscription.stop }
  }

  return {
    live,
    write,
    watch,
    queryOf,
    show: (position = history.length - 1) => {
      shown = Math.max(shown, position)
      for (const { position, caughtUp } of behind) if (position <= shown) caughtUp()
      behind = behind.filter(({ position }) => position > shown)
    },
    /** Answers are held back until `release`. */
    hold: () => (isSlow = true),
    held: () => waiting.length,
    release: () => {
      isSlow = false
      for (const resolve of waiting.splice(0)) resolve()
    },
    asked: () => asked,
    current: (name: string) => {
      const thing = history.at(-1)!.get(name)
      return !thing || thing.isHidden ? 'null' : String(thing.value)
    },
  }
}

test('the first value comes at once, and each change after it', async () => {
  const { write, watch, show } = newWorld()
  write('a', { value: 1 })
  show()
  const { values } = watch('a')
  await until(() => values.length === 1)
  write('a', { value: 2 })
  show()
  await until(() => values.length === 2)
  write('b', { value: 3 })
  show()
  assert.equal(values, ['1', '2'])
})

test('equal queries are executed once, also for later subscribers', async () => {
  const { write, watch, show, asked, live } = newWorld()
  write('a', { value: 1 })
  show()
  const all = Array.from({ length: 100 }, () => watch('a'))
  await until(() => all.every(({ values }) => values.length > 0))
  const before = asked()
  assert.ok(before <= 2)
  const later = watch('a')
  await until(() => later.values.length === 1)
  assert.is(asked(), before)
  assert.equal(live.counts(), { queries: 1, subscriptions: 101, kept: 1 })
  for (const { stop } of [...all, later]) stop()
  assert.equal(live.counts(), { queries: 0, subscriptions: 0, kept: 0 })
})

test('a burst of changes gives one answer', async () => {
  const { write, watch, show, asked } = newWorld()
  const { values } = watch('a')
  await until(() => values.length === 1)
  const before = asked()
  for (let value = 1; value <= 200; value++) write('a', { value })
  show()
  await until(() => values.at(-1) === '200')
  assert.ok(asked() - before <= 3)
})

test('an answer waits until the read models show the change', async () => {
  const { write, watch, show } = newWorld()
  const { values } = watch('a')
  await until(() => values.length === 1)
  write('a', { value: 1 })
  write('a', { value: 2 })
  show(1)
  write('a', { value: 3 })
  show()
  await until(() => values.at(-1) === '3')
  assert.equal(values, ['null', '3'])
})

test('what was read before a right was lost is not sent', async () => {
  const { write, watch, show, hold, held, release } = newWorld()
  write('a', { value: 1 })
  show()
  hold()
  const { values } = watch('a')
  await until(() => held() === 1)
  write('a', { isHidden: true })
  show()
  release()
  await until(() => values.length > 0)
  assert.equal(values, ['null'])
})

test('an answer that is being sent may be read on until a right is lost, whatever else happens', async () => {
  const { live, write, queryOf, show } = newWorld()
  write('a', { value: 1 })
  show()
  let seen: SeenState | undefined
  const subscription = live.watch(queryOf('a'), {
    client,
    changed: () => (seen ??= subscription.current()?.seen),
    failed: () => {},
  })
  await until(() => seen)
  write('a', { value: 2 })
  write('b', { isHidden: true })
  assert.ok(live.mayStillBeRead(seen!))
  write('a', { isHidden: true })
  assert.not(live.mayStillBeRead(seen!))
})

test('an answer not taken yet can no longer be taken when a right is lost, and only then', async () => {
  const { write, watch, show } = newWorld()
  write('a', { value: 1 })
  show()
  const { values, current } = watch('a')
  await until(() => values.length === 1)
  write('a', { value: 2 })
  assert.is(current(), '1')
  write('a', { isHidden: true })
  assert.is(current(), undefined)
  show()
  await until(() => current() === 'null')
})

test('while a query is executed again, the topics of its earlier answer still count', async () => {
  const { write, show, live } = newWorld()
  // A list that shows one thing at a time: the newest.
  let newest = 'a'
  let isHeld = false
  const waiting: (() => void)[] = []
  const ask = async () => {
    const name = newest
    if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
    return { value: name, topics: ['list', topicOf(name)] }
  }
  for (const name of ['a', 'b']) write(name, { value: 1 })
  show()
  let values = 0
  const subscription = live.watch({ key: 'list', ask }, { client, changed: () => (values += 1), failed: () => {} })
  await until(() => values === 1)
  ;[newest, isHeld] = ['b', true]
  write('a', { value: 2 })
  show()
  await until(() => waiting.length === 1)
  write('b', { isHidden: true })
  show()
  waiting.shift()!()
  // By now the query is asked for `b` again; what showed `a` must not be taken when `a` is hidden.
  await until(() => waiting.length === 1)
  write('a', { isHidden: true })
  assert.is(subscription.current(), undefined)
  subscription.stop()
  waiting.shift()!()
})

test('nothing can be taken while this node does not follow the log', async () => {
  let isCurrent = true
  const { write, watch, show } = newWorld({ isCurrent: () => isCurrent })
  write('a', { value: 1 })
  show()
  const { values, current } = watch('a')
  await until(() => values.length === 1)
  isCurrent = false
  assert.is(current(), undefined)
  isCurrent = true
  await until(() => current() === '1')
})

test('answers without room in memory are executed again for subscribers that take them later', async () => {
  const { write, watch, show, live } = newWorld({ keep: 10 })
  for (const name of ['a', 'b']) write(name, { value: 1_234_567 })
  show()
  const a = watch('a')
  await until(() => a.values.length === 1)
  const b = watch('b')
  await until(() => b.values.length === 1)
  assert.is(live.counts().kept, 7)
  assert.is(a.current(), undefined)
  await until(() => a.current() === '1234567')
  for (const { stop } of [a, b]) stop()
  assert.is(live.counts().kept, 0)
})

test('answers of the network that has most are dropped first, so that those of others stay', async () => {
  const { write, watch, show } = newWorld({ keep: 20 })
  for (const name of ['a', 'b', 'c', 'd']) write(name, { value: 1_234_567 })
  show()
  const of = (net: string) => () => ({ id: net, net })
  const one = watch('a', of('one'))
  await until(() => one.values.length === 1)
  for (const name of ['b', 'c', 'd']) {
    const other = watch(name, of('many'))
    await until(() => other.values.length === 1)
    other.stop()
    watch(name, of('many'))
  }
  assert.is(one.current(), '1234567')
})

test('a subscriber who has seen an answer learns of changes since, before and after it came', async () => {
  const { write, show, live, queryOf } = newWorld()
  write('a', { value: 1 })
  show()
  const follow = (seen?: SeenState) => {
    const values: string[] = []
    const taken: SeenState[] = []
    const take = () => {
      const current = subscription.current()
      if (!current) return
      values.push(current.answer.value)
      taken.push(current.seen)
    }
    const subscription = live.watch(queryOf('a'), { client, changed: take, failed: () => {} }, seen)
    return { values, taken, stop: subscription.stop }
  }
  const first = follow()
  await until(() => first.values.length > 0)
  first.stop()
  const quiet = follow(first.taken[0])
  await until(() => live.counts().queries === 1)
  assert.equal(quiet.values, [])
  write('a', { value: 2 })
  show()
  await until(() => quiet.values.at(-1) === '2')
  quiet.stop()
  const late = follow(first.taken[0])
  await until(() => late.values.at(-1) === '2')
  late.stop()
})

test('a subscriber that joins during a query gets an answer that is not older than its subscription', async () => {
  const { write, watch, show, hold, held, release } = newWorld()
  write('a', { value: 1 })
  show()
  hold()
  const first = watch('a')
  await until(() => held() === 1)
  write('a', { value: 2 })
  show()
  const second = watch('a')
  release()
  await until(() => second.values.length > 0 && first.values.at(-1) === '2')
  assert.equal(second.values, ['2'])
})

test('nothing is executed or sent while this node does not follow the log', async () => {
  let isCurrent = false
  let looks = 0
  const { watch, asked } = newWorld({ isCurrent: () => (looks++, isCurrent) })
  const { values } = watch('a')
  await until(() => looks > 3)
  assert.equal([values.length, asked()], [0, 0])
  isCurrent = true
  await until(() => values.length === 1)
})

test('an event that this node does not understand makes all queries execute again', async () => {
  const { watch, live, asked } = newWorld()
  const { values } = watch('a')
  await until(() => values.length === 1)
  const before = asked()
  live.clear(0n)
  await until(() => asked() > before)
})

test('a right that ends by the clock ends without an event', async () => {
  const { live } = newWorld()
  const values: string[] = []
  let expiresAt: number | undefined
  const ask = async () => {
    expiresAt ??= Date.now() + 50
    return Date.now() < expiresAt ? { value: '"mine"', topics: [], expiresAt } : { value: 'null', topics: [] }
  }
  const take = () => {
    const current = subscription.current()
    if (current) values.push(current.answer.value)
  }
  const subscription = live.watch({ key: 'x', ask }, { client, changed: take, failed: () => {} })
  await until(() => values.at(-1) === 'null')
  assert.is(values[0], '"mine"')
  subscription.stop()
})

type Step =
  | { readonly is: 'write'; readonly name: string; readonly value: number }
  | { readonly is: 'hide' | 'reveal' | 'watch' | 'leave'; readonly name: string }
  | { readonly is: 'show' | 'rest' }

const name = fc.constantFrom('a', 'b', 'c')
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ is: fc.constant('write' as const), name, value: fc.nat() }),
  fc.record({ is: fc.constantFrom('hide' as const, 'reveal' as const, 'watch' as const, 'leave' as const), name }),
  fc.record({ is: fc.constantFrom('show' as const, 'rest' as const) }),
)

test('whatever happens, in the end all have the newest value, and never an older or a hidden one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const { write, watch, show, current } = newWorld()
      type Watcher = ReturnType<typeof watch> & { readonly name: string }
      const watchers: Watcher[] = []
      let counter = 0
      for (const one of steps) {
        switch (one.is) {
          case 'write':
            write(one.name, { value: ++counter })
            break
          case 'hide':
          case 'reveal':
            write(one.name, { isHidden: one.is === 'hide' })
            break
          case 'watch':
            watchers.push({ ...watch(one.name), name: one.name })
            break
          case 'leave':
            watchers.splice(0, 1)[0]?.stop()
            break
          case 'show':
            show()
            break
          case 'rest':
            await new Promise((resolve) => setImmediate(resolve))
        }
      }
      show()
      for (const { values, name } of watchers) {
        await until(() => values.at(-1) === current(name))
        const numbers = values.filter((value) => value !== 'null').map(Number)
        assert.equal(
          numbers,
          [...numbers].sort((a, b) => a - b),
        )
      }
      for (const { stop } of watchers) stop()
    }),
    { numRuns: 40 },
  )
})

test.run()
