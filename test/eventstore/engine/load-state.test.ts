import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type StateSource, newStateLoader } from '../../../src/eventstore/engine/load-state.ts'
import type { Loaded } from '../../../src/eventstore/engine/stream.ts'

const test = suite('engine/load-state')

/** Values by name, as far as they are loaded. */
type Shelf = Map<string, number>

const names = ['a', 'b', 'c', 'd']
const name = fc.constantFrom(...names)

/** A stream whose every event sets one value to its own revision, and a read model of it that shows each event at once. */
const newStream = () => {
  let revision = 0n
  const values = new Map(names.map((each) => [each, 0]))
  return {
    write(written: string) {
      revision += 1n
      values.set(written, Number(revision))
    },
    values: () => new Map(values),
    load: (needs: readonly string[]): Loaded<Shelf> => {
      const state = new Map(needs.map((need) => [need, values.get(need)!]))
      return { state, revision, at: 0, position: revision }
    },
  }
}

type Stream = ReturnType<typeof newStream>

/** Loads states in parts; before each load the other writer has its turn, with what it writes then. */
const sourceOf = (stream: Stream, others: string[][]): StateSource<Shelf, string> => ({
  load: async (id, needs) => {
    for (const written of others.shift() ?? []) stream.write(written)
    return stream.load(needs)
  },
  parts: {
    covers: (state, need) => state.has(need),
    add: (state, loaded) => loaded.forEach((value, each) => state.set(each, value)),
  },
})

const fail = (): never => {
  throw new Error('no state needs the log itself here')
}
const unread = { read: fail, last: fail }

const turn = fc.record({
  /** What this writer's commands need. */
  needs: fc.uniqueArray(name, { minLength: 1 }),
  /** What the other writer writes before each load of this turn. */
  others: fc.array(fc.array(name, { maxLength: 2 }), { maxLength: 2 }),
})

test('with two writers the state has everything needed, as of its revision', () =>
  fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 8 }), async (turns) => {
      const stream = newStream()
      let cached: Loaded<Shelf> | undefined
      const others: string[][] = []
      const { loadAt } = newStateLoader<Shelf, string>({
        kind: { category: 'shelf' },
        source: sourceOf(stream, others),
        log: unread,
        cache: { get: () => cached },
      })
      for (const { needs, others: writes } of turns) {
        others.splice(0, others.length, ...writes)
        const before = cached?.revision
        const { loaded } = await loadAt('1', needs, 'none')
        const isOld = loaded.revision === before && loaded.revision !== stream.load([]).revision
        for (const [each, value] of loaded.state) {
          assert.ok(
            value <= Number(loaded.revision),
            `${each} is of revision ${value}, the state of ${loaded.revision}`,
          )
          if (!isOld) assert.is(value, stream.values().get(each), `${each} at ${loaded.revision}`)
        }
        for (const need of needs) assert.ok(loaded.state.has(need), `${need} is loaded`)
        cached = loaded
      }
    }),
    { numRuns: 1_000 },
  ))

test('if nobody else has written, only what is missing is loaded', async () => {
  const stream = newStream()
  const cached = stream.load(['a', 'b'])
  const asked: (readonly string[])[] = []
  const source = sourceOf(stream, [])
  const load: typeof source.load = (id, needs, shown) => {
    asked.push(needs)
    return source.load(id, needs, shown)
  }
  const { loadAt } = newStateLoader<Shelf, string>({
    kind: { category: 'shelf' },
    source: { ...source, load },
    log: unread,
    cache: { get: () => cached },
  })
  const { loaded } = await loadAt('1', ['a', 'c'], 'none')
  assert.equal(asked, [['c']])
  assert.equal([...loaded.state.keys()], ['a', 'b', 'c'])
})

test.run()
