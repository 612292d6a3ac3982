import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { Rejected } from '../../../src/eventstore/engine/rejected.ts'
import { newErasePast } from '../../../src/server/history/erase-past.ts'
import { newWholeTraces } from '../../../src/server/history/whole-traces.ts'
import { erasedBefore, erases } from '../../../src/server/trace/erased-before.ts'
import { type MessageUpsert, toUpsert } from '../../../src/server/trace/messages/message.ts'
import { step } from '../../server/trace/arbitraries.ts'
import { take } from '../../server/trace/steps.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { freshDatabase } from '../../support/database.ts'
import { type Engine, openEngine } from '../../support/engine.ts'
import { sweepAll } from '../../support/sweep.ts'

const schema = schemaOf(mainGroup)

const stepOrErasure = fc.oneof({ weight: 5, arbitrary: step }, { weight: 1, arbitrary: fc.constant('erase' as const) })

const orGone = (error: unknown) => {
  if (!(error instanceof Rejected)) throw error
}

const test = suite('engine/rebuild')

/** The past of a trace is erased as the route does it; without a timeline, and not yet from the log. */
const newErase = ({ reads, log, codec, traces, watermark }: Engine) => {
  const timeline = { rows: async () => [], caughtUp: async () => {}, assertNotQuarantined: () => {} }
  const caughtUp = (position: bigint) => watermark.waitFor(position, 60_000)
  const services = { reads, log, codec, traces, caughtUp, now: Date.now, timeline: timeline as never }
  return newErasePast({ ...services, wholeTraces: newWholeTraces(), roleIn: async () => 'admin' })
}

/** As the process of erasure does it, for those that are due. */
const truncateAll = async ({ log }: Engine) => {
  for await (const event of log.readAll({ after: 0n }))
    if (erases(event)) await log.truncate(event.stream, await erasedBefore(log, event))
}

test('a rebuild ends in exactly the same rows as the live read models', async () => {
  const database = await freshDatabase({ readModels: false })
  const { url } = database
  const engine = openEngine(url)
  const { log, codec, watermark } = engine
  const erase = newErase(engine)
  const [id, other, namespaceId] = [randomUUID(), randomUUID(), randomUUID()]
  const law = fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.boolean(), stepOrErasure), { minLength: 1, maxLength: 15 }),
      async (steps) => {
        for (const [first, wanted] of steps) {
          const trace = first ? id : other
          if (wanted !== 'erase') await take(engine, trace, namespaceId, wanted)
          else await erase(trace, { userId: '', role: 'admin' }, {}).catch(orGone)
        }
        await watermark.waitFor(await log.head(), 60_000)
        await sweepAll(url)
        const live = await dumpSchema(url, schema)
        await rebuild({ url, group: mainGroup, log, codec })
        await sweepAll(url)
        assert.equal(await dumpSchema(url, schema), live)
        await truncateAll(engine)
        await rebuild({ url, group: mainGroup, log, codec })
        assert.equal(await dumpSchema(url, schema), live)
      },
    ),
    { numRuns: 6 },
  )
  await law.finally(async () => {
    await engine.close()
    await database.drop()
  })
})

test('a batch that adds, changes, removes and adds again ends in the same rows as its appends one by one', async () => {
  const database = await freshDatabase({ readModels: false })
  const { url } = database
  const engine = openEngine(url)
  const [kept, made, namespaceId] = [randomUUID(), randomUUID(), randomUUID()]
  const put = { do: 'put', title: 't', visibility: undefined } as const
  const message = (name: string, ...texts: string[]) =>
    toUpsert(name, { role: 'user', parts: texts.map((text) => ({ type: 'text', content: { text } })) })
  const write = (...upserts: MessageUpsert[]) => ({ do: 'write', upserts }) as const
  const rewritten = [
    write(message('m', 'a', 'b', 'c'), message('n', 'a')),
    write(message('m', 'a', 'x', 'c')),
    write(message('m', 'y')),
    write(message('m', 'y', 'z'), message('o', 'a')),
  ]
  try {
    for (const wanted of [put, ...rewritten]) await take(engine, kept, namespaceId, wanted)
    for (const wanted of [put, ...rewritten, { do: 'delete' } as const, put, ...rewritten.slice(0, 3)])
      await take(engine, made, namespaceId, wanted)
    await sweepAll(url)
    const live = await dumpSchema(url, schema)
    await rebuild({ url, group: mainGroup, log: engine.log, codec: engine.codec })
    assert.equal(await dumpSchema(url, schema), live)
  } finally {
    await engine.close()
    await database.drop()
  }
})

test('writers and readers go on while read models are rebuilt', async () => {
  const database = await freshDatabase({ readModels: false })
  const { url } = database
  const engine = openEngine(url)
  const { log, codec, reads } = engine
  const namespaceId = randomUUID()
  const ids = Array.from({ length: 4 }, () => randomUUID())
  await take(engine, ids[0]!, namespaceId, { do: 'put', title: 'first', visibility: undefined })
  let stop = false
  let failures = 0
  const writing = Promise.all(
    ids.map(async (id, writer) => {
      for (let i = 0; !stop; i++) {
        await take(engine, id, namespaceId, { do: 'put', title: `${i}`, visibility: undefined })
        const parts = [{ type: 'text' as const, content: { text: `${writer}/${i}` } }]
        const upserts = [toUpsert(`m${i}`, { role: 'user', parts })]
        await take(engine, id, namespaceId, { do: 'write', upserts })
        const [row] = await reads.rows<{ n: bigint }>(
          'count',
          'select count(*) as n from messages where trace_id = $1',
          [id],
        )
        if (row!.n !== BigInt(i + 1)) failures += 1
      }
    }),
  )
  const done = (async () => {
    for (let i = 0; i < 3; i++) await rebuild({ url, group: mainGroup, log, codec })
  })()
  await done.finally(() => {
    stop = true
  })
  await writing
  const live = await dumpSchema(url, schema)
  await rebuild({ url, group: mainGroup, log, codec })
  assert.equal(await dumpSchema(url, schema), live)
  assert.is(failures, 0, 'a read after a write did not see it')
  await engine.close()
  await database.drop()
})

test.run()
