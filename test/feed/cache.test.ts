import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tracesIn } from '../../src/effects.ts'
import { newFeedCache } from '../../src/feed/cache.ts'
import type { FeedRow } from '../../src/feed/queries.ts'

/** A page of one trace, read at a position. */
const page = (id: string, { position = 1n, length = 10 } = {}) => ({
  rows: [{ id, namespace_id: 'n1', author_id: 'u1', position } as unknown as FeedRow],
  entries: [{ created_at: 1n, id, text: 'x'.repeat(length), bytes: length }],
})

/** A cache that says which pages it had to ask for. */
const watched = () => {
  const cache = newFeedCache(() => true)
  const asked: string[] = []
  const get = async (namespaceId: string, filled = page(namespaceId)) => {
    await cache.get({ limit: 1, namespaceId }, async () => {
      asked.push(namespaceId)
      return filled
    })
    return asked.splice(0)
  }
  return { cache, get }
}

test('the least recently used pages are dropped when all are too heavy together', async () => {
  const { get } = watched()
  for (const id of ['a', 'b']) assert.equal(await get(id, page(id, { length: 10_500_000 })), [id])
  assert.equal(await get('a'), [])
  assert.equal(await get('c', page('c', { length: 10_500_000 })), ['c'])
  assert.equal([await get('a'), await get('b'), await get('c')], [[], ['b'], []])
})

test('a page that is too heavy by itself is not stored, and no other is dropped for it', async () => {
  const { get } = watched()
  await get('a')
  const heavy = page('b', { length: 25_200_000 })
  assert.equal([await get('b', heavy), await get('b', heavy), await get('a')], [['b'], ['b'], []])
})

test('an event drops the pages with its topics, and no others', async () => {
  const { cache, get } = watched()
  for (const id of ['n1', 'n2']) await get(id)
  cache.observe({ position: 2n, topics: ['t9', tracesIn('n2')] })
  assert.equal([await get('n1'), await get('n2', page('n2', { position: 2n }))], [[], ['n2']])
  for (const [i, about] of ['n1', 'u1'].entries()) {
    cache.observe({ position: BigInt(3 + i), topics: [about] })
    for (const id of ['n1', 'n2']) assert.equal(await get(id, page(id, { position: BigInt(3 + i) })), [id], about)
  }
})

test('a page is not stored when an event has changed one of its topics while it was read', async () => {
  const { cache, get } = watched()
  cache.observe({ position: 7n, topics: ['n1'] })
  assert.equal(
    [await get('n1', page('n1', { position: 6n })), await get('n1', page('n1', { position: 7n }))],
    [['n1'], ['n1']],
  )
  assert.equal(await get('n1'), [])
})

test.run()
