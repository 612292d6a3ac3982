import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Row } from '../../../src/eventstore/engine/reads.ts'
import { traceWithTimeline } from '../../../src/server/history/locate.ts'
import { openPast } from '../../../src/server/history/open-past.ts'
import { newPastMemo } from '../../../src/server/history/past-memo.ts'
import type { HistoryServices } from '../../../src/server/history/services.ts'
import type { MessageListRow } from '../../../src/server/trace/messages/queries.ts'
import { openHistory } from './support.ts'

const test = suite('history: the work of reading the past')

const { node, user } = await openHistory(test)

/** The services of the node, and how many rows each statement has given since. */
const counted = () => {
  const rows: { name: string; count: number; bytes: number }[] = []
  const counting = <Reads extends Pick<HistoryServices['reads'], 'rows'>>(reads: Reads): Reads => ({
    ...reads,
    rows: async <T extends Row>(name: string, text: string, values: readonly unknown[]) => {
      const found = await reads.rows<T>(name, text, values)
      const bytes = found.reduce((sum, row) => sum + Object.values(row).join().length, 0)
      rows.push({ name, count: found.length, bytes })
      return found
    },
  })
  const { reads, timeline } = node.service
  const services = { ...node.service, reads: counting(reads), timeline: counting(timeline), memo: newPastMemo() }
  return { services: services as HistoryServices, rows }
}

const present = (externalId: string) => traceWithTimeline(node.service, { externalId }, user as never)

const RENAMES = 3_500

test('a trace with very many changes of its own is read a page at a time, each change once', async () => {
  const { externalId, url, id } = await user.newTrace({ title: 'first' })
  const rename = (title: string) => ({
    type: 'TraceUpdated' as const,
    data: { patch: [{ op: 'replace' as const, path: '/title', value: title }] },
  })
  const { traces, write } = node.service
  for (let i = 0; i < RENAMES; i += 500) {
    const events = Array.from({ length: 500 }, (_, k) => rename(`title ${i + k}`))
    await write(traces, id, { decide: () => events }, {})
  }
  await user.send('POST', `${url}/messages/batch`, { messages: [{ externalId: 'm', role: 'user' }] })
  await user.send('PATCH', url, { gitBranch: 'last' })
  const trace = await present(externalId)
  const { services, rows } = counted()
  const detailAt = async (revision: bigint) =>
    JSON.parse(await (await openPast(services, trace, { revision })).detail()) as object
  const titleAt = async (revision: bigint) => ((await detailAt(revision)) as { title: string }).title
  assert.is(await titleAt(500n), 'title 499')
  assert.is(await titleAt(BigInt(RENAMES)), `title ${RENAMES - 1}`)
  assert.ok(
    rows.every(({ count }) => count <= 1_000),
    JSON.stringify(rows),
  )
  assert.ok(rows.reduce((sum, { count }) => sum + count, 0) >= RENAMES)
  const detail = await detailAt(trace.revision)
  const now = await user.send<{ trace: object }>('GET', url)
  assert.equal(detail, now.trace)
  const before = rows.length
  assert.equal(await detailAt(trace.revision), detail)
  assert.ok(rows.slice(before).reduce((sum, { count }) => sum + count, 0) < 10)
})

const COUNT = 3_000

for (const [name, field] of [
  ['moved', 'order'],
  ['changed', 'textContent'],
] as const)
  test(`the order of a list whose messages were ${name} since is computed once for all of its pages`, async () => {
    const { externalId, url } = await user.newTrace({ title: 'first' })
    const upload = async (change: (i: number) => object) => {
      for (let from = 0; from < COUNT; from += 200) {
        const messages = Array.from({ length: 200 }, (_, k) => ({
          externalId: `m${from + k}`,
          role: 'user',
          ...change(from + k),
        }))
        await user.send('POST', `${url}/messages/batch`, { messages })
      }
    }
    await upload((i) => ({ order: i }))
    const { revision } = await present(externalId)
    await upload((i) => (field === 'order' ? { order: COUNT - i } : { order: i, textContent: 'changed' }))
    const trace = await present(externalId)
    const { services, rows } = counted()

    const page = async (last: MessageListRow | undefined) => {
      const past = await openPast(services, trace, { revision })
      const after = last && ([last.sequence!, last.timestamp ?? Infinity, last.ordinal] as const)
      const found: MessageListRow[] = []
      for await (const { rows } of past.messages({ includeParts: false, limit: 10, after })) found.push(...rows)
      return found
    }
    const all: MessageListRow[] = []
    for (let i = 0; i < 5; i++) all.push(...(await page(all.at(-1))))
    assert.equal(
      all.map(({ external_id: externalId }) => externalId),
      Array.from({ length: 50 }, (_, i) => `m${i}`),
    )
    const whole = rows.filter(({ name }) => name === 'past-keys')
    assert.is(whole.length, 1)
    const before = rows.length
    await page(all.at(-1))
    assert.ok(
      rows.slice(before).every(({ bytes }) => bytes < 20_000),
      JSON.stringify(rows.slice(before)),
    )
  })

test.run()
