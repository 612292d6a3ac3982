import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copyLog } from '../../../src/eventstore/log/copy/copy.ts'
import { openAdapter } from '../../../src/eventstore/log/open-log.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { WITH_WORKER, callerOf, newEmptyWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'

const test = suite('history: a copied log')

const ends: (() => Promise<unknown>)[] = []
test.after.each(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const newPlaces = async () => {
  const env = { ...WITH_WORKER, SUMMARY_PROVIDER: 'none' }
  const [double, first, second] = [await startDouble(), await newEmptyWorld({ env }), await newEmptyWorld({ env })]
  ends.push(double.stop, first.close, second.close)
  return { double, first, second }
}

const copy = async (from: string, to: string) => {
  const [source, target] = [await openAdapter(from), await openAdapter(to)]
  const moved: string[] = []
  try {
    await copyLog({ from: source, to: target, moved: (stream) => void moved.push(stream) })
    return moved
  } finally {
    await Promise.all([source.close(), target.close()])
  }
}

const messageOf = (externalId: string, text: string) => ({ externalId, role: 'assistant', textContent: text })

/** In one of the two logs an event of the longest text takes several revisions. */
const TEXTS = ['one', 'x'.repeat(1_500_000), 'two', 'y'.repeat(2_500_000), 'three']

/** Chunks of less than one event of several kilobytes. */
const IN_CHUNKS = '&maxAppendBytes=700000'

for (const direction of ['to EventStoreDB', 'to Postgres'] as const)
  test(`${direction}: messages that changed after an erasure are in its past, wherever their revisions are`, async () => {
    const { double, first, second } = await newPlaces()
    const [there, here] = [`${double.url}${IN_CHUNKS}`, '']
    const [from, to] = direction === 'to Postgres' ? [there, here] : [here, there]
    const source = await first.openNode({ env: { EVENTSTORE_URL: from } })
    const { token, say, send, newTrace } = await signIn(source)
    const { url } = await newTrace({ title: 'before' })
    const write = (suffix: string) =>
      say(
        url,
        TEXTS.map((text, i) => messageOf(`m${i}`, `${text}${suffix}`)),
      )
    await write(' of the past')
    await write('')
    await send('POST', `${url}/history/erase`)
    const { events } = await send<{ events: { at: number }[] }>('GET', `${url}/events?limit=1`)
    const erasedAt = events[0]!.at
    await until(() => Date.now() > erasedAt)
    await write(' of today')
    const shown = async (node: typeof source) => {
      const caller = callerOf(node, token)
      type List = { messages: { textContent: string }[] }
      return (await caller.send<List>('GET', `${url}/messages?at=${erasedAt}`)).messages
    }
    const expected = await shown(source)
    assert.equal(
      expected.map(({ textContent }) => textContent.slice(0, 5)),
      TEXTS.map((text) => text.slice(0, 5)),
    )
    await source.close()

    assert.is(
      (await copy(from || first.database.url, to || second.database.url)).length,
      1,
      'the revisions of the trace are others',
    )
    const target = await second.openNode({ env: { EVENTSTORE_URL: to } })
    await until(async () => (await target.service.readiness()).missing.length === 0)
    assert.equal(await shown(target), expected)
  })

test.run()
