import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newTopicCache } from '../../../src/eventstore/engine/topic-cache.ts'

const test = suite('engine/topic-cache')

type Read = { readonly position?: bigint; readonly size?: number; readonly topics?: readonly string[] }

/** A cache of sizes that says which keys it had to read. */
const watched = () => {
  const node = { isCurrent: true }
  const cache = newTopicCache<number>({
    sizeOf: (size) => size,
    maxSize: 10,
    isCurrent: () => node.isCurrent,
    remembered: 10,
  })
  const get = async (key: string, { position = 1n, size = 1, topics = [key] }: Read = {}) => {
    const read: string[] = []
    const load = async () => {
      read.push(key)
      return { value: size, topics: new Set(topics), position }
    }
    if (cache.get(key) === undefined) await cache.load(key, load)
    return read
  }
  return { cache, get, node }
}

test('when the total size is exceeded, the least recently used values are dropped', async () => {
  const { get } = watched()
  for (const key of ['a', 'b']) assert.equal(await get(key, { size: 4 }), [key])
  assert.equal(await get('a'), [])
  assert.equal(await get('c', { size: 4 }), ['c'])
  assert.equal([await get('a'), await get('b'), await get('c')], [[], ['b'], []])
})

test('a value larger than the maximum is not cached, and no other is dropped for it', async () => {
  const { get } = watched()
  await get('a')
  assert.equal([await get('b', { size: 11 }), await get('b', { size: 11 }), await get('a')], [['b'], ['b'], []])
})

test('an event drops the values that share a topic with it, and no others', async () => {
  const { cache, get } = watched()
  await get('a', { topics: ['x', 'y'] })
  await get('b', { topics: ['y', 'z'] })
  cache.observe({ position: 2n, topics: ['w', 'x'] })
  assert.equal([await get('a', { topics: ['x', 'y'], position: 2n }), await get('b')], [['a'], []])
  cache.observe({ position: 3n, topics: ['y'] })
  assert.equal([await get('a', { position: 3n }), await get('b', { position: 3n })], [['a'], ['b']])
})

test('a value is not cached if an event has changed one of its topics while it was read', async () => {
  const { cache, get } = watched()
  cache.observe({ position: 7n, topics: ['a'] })
  assert.equal([await get('a', { position: 6n }), await get('a', { position: 7n })], [['a'], ['a']])
  assert.equal(await get('a'), [])
})

test('while the node does not follow the log, nothing is cached or returned', async () => {
  const { get, node } = watched()
  await get('a')
  node.isCurrent = false
  assert.equal([await get('a'), await get('b')], [['a'], ['b']])
  node.isCurrent = true
  assert.equal([await get('a'), await get('b')], [[], ['b']])
})

test('what was being read when the cache was cleared is neither cached nor returned to a later call', async () => {
  const { cache } = watched()
  const answers: ((value: number) => void)[] = []
  const read = async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(resolve)
    return { value: await promise, topics: new Set<string>(), position: 1n }
  }
  const before = [cache.load('a', read), cache.load('a', read)]
  assert.is(answers.length, 1, 'both share one read')
  cache.clear()
  const later = cache.load('a', read)
  answers[0]!(1)
  assert.is(await before[0], 1)
  assert.is(cache.get('a'), undefined)
  answers[1]!(2)
  assert.equal([await before[1], await later, cache.get('a')], [2, 2, 2])
})

test.run()
