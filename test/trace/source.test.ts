import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldStream } from '../../src/engine/fold.ts'
import { newTransactor } from '../../src/engine/transact.ts'
import { type TraceState, traces } from '../../src/trace/decide.ts'
import { headOfText } from '../../src/trace/messages/heads.ts'
import type { MessageHead } from '../../src/trace/messages/loaded.ts'
import { toUpsert } from '../../src/trace/messages/message.ts'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'
import { freshDatabase, onServer } from '../support/database.ts'
import { openEngine } from '../support/engine.ts'
import { type Step, step } from './arbitraries.ts'
import { take } from './steps.ts'

const test = suite('trace/source')
const names = ['m1', 'm2', 'm3', 'm4', '🙂']

/** A trace, and of each message what is known of it. */
const essence = ({ trace, messages }: TraceState) => ({
  trace,
  known: names.map((name) => messages.find(name)),
  digests: names.map((name) => messages.digestsOf(name) ?? []),
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
      // A digest that no message has makes the loader bring those of all parts.
      const loaded = await engine.source.load(id, [new Map(names.map((name) => [name, { count: 9, digest: '-' }]))], 0n)
      assert.equal(essence(loaded.state), essence(folded.state))
      // As events of version 1 leave it, which do not tell what parts there are.
      await onServer(
        database.url,
        `update ${schemaOf(mainGroup)}.messages set parts_head = '' where trace_id = '${id}'`,
      )
      const older = await engine.source.load(id, [new Map(names.map((name) => [name, undefined]))], 0n)
      assert.equal(essence(older.state), essence(folded.state))
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

/** A step that writes these messages, each of one text. */
const write = (text: string, ...externalIds: string[]): Step => ({
  do: 'write',
  upserts: externalIds.map((externalId) => toUpsert(externalId, { role: 'user', textContent: text })),
})

test('commands that are decided together have all that they need when another node gets ahead of them', async () => {
  const database = await freshDatabase()
  const engine = openEngine(database.url)
  const [id, namespaceId] = [randomUUID(), randomUUID()]
  const nodeWith = (load: typeof engine.source.load) => {
    const transactor = newTransactor({ ...engine, source: { ...engine.source, load }, kind: traces, now: Date.now })
    return (wanted: Step) => take({ ...engine, traces: transactor }, id, namespaceId, wanted)
  }
  const other = nodeWith(engine.source.load)
  let getAhead = () => Promise.resolve()
  const node = nodeWith(async (...asked) => {
    await getAhead()
    return engine.source.load(...asked)
  })
  try {
    await other({ do: 'put', title: undefined, visibility: undefined })
    await other(write('first', 'm1', 'm2', 'm3'))
    await node(write('second', 'm1'))
    getAhead = () => {
      getAhead = () => Promise.resolve()
      return other(write('third', 'm3'))
    }
    // The first one is decided alone, and the others together: m1 is in memory then, m2 is not.
    await Promise.all([node(write('fourth', 'm1')), node(write('fifth', 'm1')), node(write('sixth', 'm2'))])
    const { state } = await engine.source.load(id, [new Map(['m1', 'm2', 'm3'].map((name) => [name, undefined]))], 0n)
    const texts = ['m1', 'm2', 'm3'].map((name) => (state.messages.find(name) as MessageHead).text)
    assert.equal(texts, ['fifth', 'sixth', 'third'].map(headOfText))
  } finally {
    await engine.close()
    await database.drop()
  }
})

test.run()
