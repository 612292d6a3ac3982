import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldStream } from '../../../src/eventstore/engine/fold.ts'
import { newTransactor } from '../../../src/eventstore/engine/transact.ts'
import { traces } from '../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../src/server/trace/state.ts'
import { headOfText } from '../../../src/server/trace/messages/heads.ts'
import type { MessageHead } from '../../../src/server/trace/messages/loaded.ts'
import { toUpsert } from '../../../src/server/trace/messages/message.ts'
import { freshDatabase } from '../../support/database.ts'
import { openEngine } from '../../support/engine.ts'
import { type Step, step } from './arbitraries.ts'
import { take } from './steps.ts'
import { runs } from '../../support/runs.ts'

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
      assert.is(loaded.revision, folded.revision)
      assert.is(loaded.at, folded.at)
    }),
    { numRuns: runs(15) },
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

test('commands that are decided together have all that they need, also when another node writes first', async () => {
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

/** A step that gives a message so many parts. */
const writeParts = (externalId: string, count: number, text: string): Step => ({
  do: 'write',
  upserts: [
    toUpsert(externalId, {
      role: 'user',
      parts: Array.from({ length: count }, (_, i) => ({ type: 'text', content: { text: `${text} ${i}` } })),
    }),
  ],
})

test('loading less of a message for one command keeps what is in memory for another one', async () => {
  const database = await freshDatabase()
  const engine = openEngine(database.url)
  const [id, namespaceId] = [randomUUID(), randomUUID()]
  const node = (...steps: readonly Step[]) => Promise.all(steps.map((wanted) => take(engine, id, namespaceId, wanted)))
  const together = (...steps: readonly Step[]): Step => ({
    do: 'write',
    upserts: steps.flatMap((each) => (each.do === 'write' ? each.upserts : [])),
  })
  try {
    await node({ do: 'put', title: undefined, visibility: undefined })
    await node(together(writeParts('m1', 4, 'first'), write('first', 'm2', 'm3')))
    engine.traces.clear()
    await node(writeParts('m1', 4, 'second'))
    // The first one is decided alone, the others together: for the last one m2 is loaded, and with it one part of m1; the second needs all four.
    const last = together(writeParts('m1', 1, 'fifth'), write('fifth', 'm2'))
    await node(write('third', 'm1'), writeParts('m1', 4, 'fourth'), last)
    const { state } = await foldStream(traces, engine.log, engine.codec, id)
    assert.is((state.messages.find('m1') as MessageHead).parts.count, 1)
  } finally {
    await engine.close()
    await database.drop()
  }
})

const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 })

test('any concurrent commands are each decided with all that they need', async () => {
  const database = await freshDatabase()
  const engine = openEngine(database.url)
  const law = fc.assert(
    fc.asyncProperty(rounds, fc.boolean(), async (given, forgets) => {
      const [id, namespaceId] = [randomUUID(), randomUUID()]
      for (const steps of given) {
        if (forgets) engine.traces.clear()
        await Promise.all(steps.map((wanted) => take(engine, id, namespaceId, wanted)))
      }
      const folded = await foldStream(traces, engine.log, engine.codec, id)
      const loaded = await engine.source.load(id, [new Map(names.map((name) => [name, { count: 9, digest: '-' }]))], 0n)
      assert.equal(essence(loaded.state), essence(folded.state))
    }),
    { numRuns: runs(15) },
  )
  await law.finally(async () => {
    await engine.close()
    await database.drop()
  })
})

test.run()
