import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PUBLIC_ROOTS, PUBLIC_TRACES, tracesIn } from '../../../src/server/effects.ts'
import { type FeedServices, firstPages, newFeedCache } from '../../../src/server/feed/first-pages.ts'

const test = suite('feed/first-pages')

test('an event about the list, or about a trace, a namespace or an author on a page, makes the page stale', async () => {
  let [position, read] = [1n, 0]
  const rows = async () => {
    read += 1
    return [{ id: 't1', namespace_id: 'n1', author_id: 'u1', created_at: 1n, size: 10, position }]
  }
  const feedCache = newFeedCache(() => true)
  const reads = { rows, isNotQuarantined: () => false }
  const models = { known: async () => ({}) }
  const pages = firstPages({ reads, models, feedCache } as unknown as FeedServices)

  for (const [page, list] of [
    [() => pages.publicPage(1), PUBLIC_TRACES],
    [() => pages.namespacePage('n1', 1), tracesIn('n1')],
    [() => pages.publicRoots(1), PUBLIC_TRACES],
    [() => pages.publicRoots(1), PUBLIC_ROOTS],
  ] as const) {
    await page()
    for (const topic of [list, 't1', 'n1', 'u1']) {
      feedCache.observe({ position: (position += 1n), topics: ['t9', topic] })
      read = 0
      await page()
      await page()
      assert.is(read, 1, topic)
    }
    feedCache.observe({ position: (position += 1n), topics: ['t9', tracesIn('n9')] })
    await page()
    assert.is(read, 1, 'an event about others')
  }
})

test.run()
