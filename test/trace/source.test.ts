import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldStream } from '../../src/engine/fold.ts'
import { type TraceState, traces } from '../../src/trace/decide.ts'
import { freshDatabase } from '../support/database.ts'
import { openEngine } from '../support/engine.ts'
import { step } from './arbitraries.ts'
import { take } from './steps.ts'

const test = suite('trace/source')
const names = ['m1', 'm2', 'm3', 'm4', '🙂']

/** A trace, and of each message what is known of it. */
const essence = ({ trace, messages }: TraceState) => ({
  trace,
  known: names.map((name) => messages.find(name)),
  documents: names.map((name) => Object.entries(messages.documentOf(name) ?? {}).sort()),
})

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
    }),
    { numRuns: 60 },
  )
  await law.finally(async () => {
    await engine.close()
    await database.drop()
  })
})

test.run()
