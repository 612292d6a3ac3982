import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newGate } from '../src/gate.ts'

const test = suite('a gate')

test('callers take turns, however much one of them asks for', async () => {
  const gate = newGate(1)
  const begun: string[] = []
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const ask = (callerKey: string, name: string) => gate(callerKey, async () => void begun.push(name))
  const all = [gate('a', () => held), ...['a1', 'a2', 'a3'].map((name) => ask('a', name))]
  all.push(ask('b', 'b1'), ask('c', 'c1'), ask('b', 'b2'))
  release()
  await Promise.all(all)
  assert.equal(begun, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('so many are in at once, also after failures', async () => {
  const gate = newGate(2)
  let [inside, most] = [0, 0]
  const work = async () => {
    most = Math.max(most, ++inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside -= 1
    throw new Error('as it happens')
  }
  const all = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => gate(String(i % 3), work)))
  assert.ok(all.every(({ status }) => status === 'rejected'))
  assert.equal([most, inside], [2, 0])
  assert.is(await gate('a', async () => 'still open'), 'still open')
})

test.run()
