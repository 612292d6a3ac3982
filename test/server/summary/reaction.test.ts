import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Written, newWorld } from './world.ts'

const test = suite('summary process')
const rule = { threshold: 5, debounceMs: 100 }

type Step = { is: 'add'; id: string; messages: number } | { is: 'remove'; id: string } | { is: 'pass'; ms: number }

const id = fc.constantFrom('a', 'b')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ is: fc.constant('add' as const), id, messages: fc.integer({ min: 0, max: 6 }) }),
  },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 250 }) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('remove' as const), id }) },
)
const history = fc.array(step, { minLength: 1, maxLength: 60 })

/** The rule in its own words: when each summary is written, if everything works and nobody lags. */
const expected = (steps: readonly Step[]): Written[] => {
  type Told = { count: number; summarised?: number; since?: number; last: number }
  const told = new Map<string, Told>()
  const written: Written[] = []
  let now = 0
  const runOf = ({ since, last }: Told) =>
    since === undefined ? Number.POSITIVE_INFINITY : Math.min(last + rule.debounceMs, since + 10 * rule.debounceMs)
  const runUntil = (time: number) => {
    for (;;) {
      const next = [...told].sort(([, a], [, b]) => runOf(a) - runOf(b))[0]
      if (!next || runOf(next[1]) > time) return
      written.push({ id: next[0], at: Math.max(now, runOf(next[1])), messageCount: next[1].count })
      told.set(next[0], { count: next[1].count, summarised: next[1].count, last: 0 })
    }
  }
  for (const one of steps) {
    if (one.is === 'pass') {
      runUntil(now + one.ms)
      now += one.ms
    } else if (one.is === 'remove') told.delete(one.id)
    else {
      const before = told.get(one.id) ?? { count: 0, last: 0 }
      const count = before.count + one.messages
      const isDue = before.summarised === undefined ? count > 0 : count - before.summarised >= rule.threshold
      const moves = one.messages > 0 && isDue
      told.set(one.id, { ...before, count, ...(moves ? { since: before.since ?? now, last: now } : {}) })
      runUntil(now)
    }
  }
  runUntil(Number.MAX_SAFE_INTEGER)
  return written
}

const settle = (world: ReturnType<typeof newWorld>, until = Number.MAX_SAFE_INTEGER) => {
  for (;;) {
    world.follow()
    const started = world.take(until)
    if (started === 'none') return
    if (started) world.finish(started)
  }
}

const play = (world: ReturnType<typeof newWorld>, one: Step) => {
  if (one.is === 'add') world.add(one.id, one.messages)
  else if (one.is === 'remove') world.remove(one.id)
}

const inOrder = (written: readonly Written[]) => [...written].sort((a, b) => a.at - b.at || a.id.localeCompare(b.id))

test('summaries are written when the rule says, and only then', () => {
  fc.assert(
    fc.property(history, (steps) => {
      const world = newWorld(rule)
      for (const one of steps) {
        play(world, one)
        const until = world.now() + (one.is === 'pass' ? one.ms : 0)
        settle(world, until)
        world.pass(until - world.now())
      }
      settle(world)
      assert.equal(inOrder(world.written), inOrder(expected(steps)))
    }),
    { numRuns: 500 },
  )
})

/** What may happen at any moment: lag, a slow job among other jobs, a failure, a kill, a start without state. */
const trouble = fc.constantFrom('none', 'lag', 'start', 'finish', 'twice', 'fail', 'forget')

test('whatever happens, each time the rule is met there is one summary', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, trouble), { minLength: 1, maxLength: 80 }), (steps) => {
      const world = newWorld(rule)
      const running: Exclude<ReturnType<typeof world.take>, 'none' | undefined>[] = []
      const failed = new Set<string>()
      for (const [one, event] of steps) {
        play(world, one)
        if (one.is === 'pass') world.pass(one.ms)
        if (event !== 'lag') world.follow()
        if (event === 'forget') world.forget()
        const started = event === 'start' || event === 'fail' ? world.take(world.now()) : 'none'
        if (started && started !== 'none') {
          if (event === 'start') running.push(started)
          else {
            world.giveUp(started)
            failed.add(started.id)
          }
        }
        // A job whose worker was killed after its append runs again.
        if (event === 'twice' && running[0]) world.finish(running[0])
        if (event === 'finish' || event === 'twice') running.splice(0, 1).forEach(world.finish)
      }
      running.forEach(world.finish)
      for (const id of failed) world.add(id, 1)
      settle(world)
      assert.equal(world.dueIds(), [])
      const last = new Map<string, number | undefined>()
      for (const { id, event } of world.log) {
        if (event.type === 'TraceDeleted') last.delete(id)
        if (event.type !== 'TraceSummarised') continue
        const { messageCount } = event.data
        const before = last.get(id)
        assert.ok(before === undefined ? messageCount > 0 : messageCount - before >= rule.threshold)
        last.set(id, messageCount)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a process that starts without its state schedules only the traces due at the end', () => {
  const world = newWorld(rule)
  world.add('summarised', 3)
  world.add('deleted', 3)
  settle(world)
  world.add('due', 1)
  world.add('summarised', 1)
  world.remove('deleted')
  world.forget()
  assert.equal([...world.jobs().keys()], ['due'])
})

test('counts that do not change delay nothing', () => {
  const world = newWorld(rule)
  world.add('a', 1)
  world.pass(90)
  world.add('a', 0)
  settle(world)
  assert.equal(world.written, [{ id: 'a', at: 100, messageCount: 1 }])
})

test('a trace that is written to steadily is summarised after ten debounces', () => {
  const world = newWorld(rule)
  for (let i = 0; i < 30 && world.written.length === 0; i++) {
    world.add('a', 1)
    settle(world, world.now() + 90)
    world.pass(90)
  }
  assert.is(world.written[0]?.at, 1_000)
})

test.run()
