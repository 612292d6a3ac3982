import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newNodeLimit } from '../../../src/server/http/node-limit.ts'

const test = suite('limits of sessions')

/** Nodes that share a count, and a clock of theirs. */
const newWorld = (points = 100) => {
  const clock = { now: 0 }
  const total = new Map<string, number>()
  const added: number[] = []
  const add = async (id: string, more: number) => {
    added.push(more)
    total.set(id, (total.get(id) ?? 0) + more)
    return total.get(id)! > points ? 30_000 : undefined
  }
  const node = () => newNodeLimit({ shared: { add }, points, elapsed: () => clock.now })
  return { nodes: [node(), node()] as const, clock, added, total }
}
const times = (count: number, work: () => unknown) => Array.from({ length: count }, work)

test('one node lets through the requests of a minute, and says when the next minute begins', () => {
  const { nodes, clock } = newWorld()
  clock.now = 20_000
  assert.ok(times(100, () => nodes[0].take('a')).every((wait) => wait === undefined))
  assert.is(nodes[0].take('a'), 40_000)
  assert.is(nodes[0].take('b'), undefined)
  clock.now = 60_000
  assert.is(nodes[0].take('a'), undefined)
})

test('requests that are given back do not count, on any node', async () => {
  const { nodes, clock, total } = newWorld()
  times(60, () => nodes[0].take('a'))
  times(50, () => nodes[0].giveBack('a'))
  await nodes[0].share()
  assert.is(total.get('a'), 10)
  times(20, () => nodes[0].giveBack('a'))
  assert.ok(times(100, () => nodes[0].take('a')).every((wait) => wait === undefined))
  assert.is(nodes[0].take('a'), 60_000)
  clock.now = 60_000
  nodes[0].take('b')
  nodes[0].giveBack('a')
  assert.ok(times(100, () => nodes[0].take('a')).every((wait) => wait === undefined))
  assert.is(nodes[0].take('a'), 60_000)
})

test('nodes refuse together, once they have shared their counts', async () => {
  const { nodes, clock } = newWorld()
  for (const node of nodes) times(60, () => node.take('a'))
  for (const node of nodes) await node.share()
  times(5, () => nodes[0].take('a'))
  await nodes[0].share()
  assert.is(nodes[0].take('a'), 30_000)
  assert.is(nodes[1].take('a'), 30_000)
  clock.now = 29_999
  assert.is(nodes[1].take('a'), 1)
  clock.now = 30_000
  assert.is(nodes[1].take('a'), undefined)
})

test('a block lasts into the next minute', async () => {
  const { nodes, clock } = newWorld()
  clock.now = 45_000
  times(100, () => nodes[0].take('a'))
  times(10, () => nodes[1].take('a'))
  await nodes[0].share()
  await nodes[1].share()
  clock.now = 60_000
  assert.is(nodes[1].take('a'), 15_000)
})

test('a session that does little costs no query', async () => {
  const { nodes, added } = newWorld()
  times(4, () => nodes[0].take('a'))
  await nodes[0].share()
  assert.equal(added, [])
  nodes[0].take('a')
  await nodes[0].share()
  await nodes[0].share()
  assert.equal(added, [5])
})

test('the oldest of too many keys is dropped', () => {
  const limit = newNodeLimit({ shared: { add: async () => undefined }, points: 1, elapsed: () => 0, keep: 2 })
  assert.is(limit.take('a'), undefined)
  assert.is(limit.take('a'), 60_000)
  assert.equal([limit.take('b'), limit.take('c')], [undefined, undefined])
  assert.equal([limit.take('a'), limit.take('c')], [undefined, 60_000])
})

test.run()
