import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldStream } from '../../src/engine/fold.ts'
import { type Trace, traces } from '../../src/trace/decide.ts'
import { freshDatabase } from '../support/database.ts'
import { openEngine } from '../support/engine.ts'
import { step } from './arbitraries.ts'
import { take } from './steps.ts'

const test = suite('trace/source')
const names = ['m1', 'm2', 'm3', 'm4', '🙂']

/** A state without what a loader may leave out: documents of messages that nobody asked for. */
const essence = (state: Trace) => {
  if (state.is === 'absent') return state
  const { messages, missing: _missing, documents: _, ...rest } = state
  return { ...rest, messages: [...messages].sort(([a], [b]) => (a < b ? -1 : 1)) }
}

test('the state loaded from the read models equals the fold of the log', async () => {
  const database = await freshDatabase()
  const engine = openEngine(database.url, { budget: 0 })
  const law = fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const id = randomUUID()
      const namespaceId = randomUUID()
      for (const wanted of steps) await take(engine, id, namespaceId, wanted)
      const folded = await foldStream(traces, engine.log, engine.codec, id)
      // A digest that no message has makes the loader bring every document.
      const loaded = await engine.source.load(id, [new Map(names.map((name) => [name, 'none']))], undefined)
      assert.equal(essence(loaded.state), essence(folded.state))
      assert.is(loaded.revision, folded.revision)
      assert.is(loaded.at, folded.at)
      if (loaded.state.is === 'present' && folded.state.is === 'present') {
        const sorted = (documents: Map<string, unknown>) =>
          JSON.stringify(
            [...documents]
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, document]) => [name, Object.entries(document as object).sort()]),
          )
        assert.is(sorted(loaded.state.documents), sorted(folded.state.documents))
      }
    }),
    { numRuns: 60 },
  )
  await law.finally(async () => {
    await engine.close()
    await database.drop()
  })
})

test.run()
