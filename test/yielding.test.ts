import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newTurns } from '../src/yielding.ts'

const test = suite('turns of the event loop')

/** Works for so many turns, each as long as a turn may last. */
const work = async (turns: ReturnType<typeof newTurns>, client: string, count: number, done: string[]) => {
  for (let i = 0; i < count; i++) {
    await turns.take(client)
    done.push(client)
    const end = performance.now() + 9
    while (performance.now() < end);
  }
}

test('go to one client after the other, however much work one of them has', async () => {
  const turns = newTurns()
  const done: string[] = []
  const all = Array.from({ length: 6 }, () => work(turns, 'many', 2, done))
  await Promise.all([...all, work(turns, 'one', 3, done)])
  assert.equal(done.slice(0, 6), ['many', 'one', 'many', 'one', 'many', 'one'])
  assert.is(done.length, 15)
})

test('let other work of the loop go on, and cost nothing while one lasts', async () => {
  const turns = newTurns()
  let loops = 0
  const count = () => {
    loops += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  await work(turns, 'a', 5, [])
  clearImmediate(counting)
  assert.ok(loops >= 5, `${loops}`)
  await turns.take('a')
  assert.is(turns.take('b'), undefined)
})

test.run()
