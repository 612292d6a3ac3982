import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Client } from '../../src/base/permits.ts'
import { newTurns } from '../../src/base/yielding.ts'

const test = suite('turns of the event loop')

const net = (name: string) => ({ id: name, net: name })

/** Works for so many turns, each as long as a turn may last. */
const work = async (turns: ReturnType<typeof newTurns>, client: Client, count: number, done: string[]) => {
  for (let i = 0; i < count; i++) {
    await turns.take(client)
    done.push(client.id)
    const end = performance.now() + 9
    while (performance.now() < end);
  }
}

test('go to one client after the other, however much work one of them has', async () => {
  const turns = newTurns()
  const done: string[] = []
  const all = Array.from({ length: 6 }, () => work(turns, net('many'), 2, done))
  await Promise.all([...all, work(turns, net('one'), 3, done)])
  assert.equal(done.slice(0, 6), ['many', 'one', 'many', 'one', 'many', 'one'])
  assert.is(done.length, 15)
})

test('go to one net after the other, and in it to one client after the other, however many these are', async () => {
  const turns = newTurns()
  const done: string[] = []
  const crowd = ['a', 'b', 'c', 'd'].map((id) => ({ id, net: 'crowded' }))
  await Promise.all([...crowd.map((client) => work(turns, client, 2, done)), work(turns, net('one'), 3, done)])
  assert.equal(done.slice(0, 8), ['a', 'one', 'b', 'one', 'c', 'one', 'd', 'a'])
})

test('all waiting work of one client resumes in the same turn, as long as the turn lasts', async () => {
  const turns = newTurns()
  let loops = 0
  const count = () => {
    loops += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  await Promise.all(Array.from({ length: 1_000 }, async () => turns.take(net('a'))))
  clearImmediate(counting)
  assert.ok(loops < 100, `${loops}`)
})

test('let other work of the event loop go on, and cost nothing within a turn', async () => {
  const turns = newTurns()
  let loops = 0
  const count = () => {
    loops += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  await work(turns, net('a'), 5, [])
  clearImmediate(counting)
  assert.ok(loops >= 5, `${loops}`)
  await turns.take(net('a'))
  assert.is(turns.take(net('b')), undefined)
})

test.run()
