import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newFlow } from '../../src/realtime/flow.ts'

const test = suite('realtime: what is on its way')

const LARGE = 100_000

test('frames beyond the limit wait until there is room, in their order', () => {
  const flow = newFlow(2 * LARGE)
  const sent: string[] = []
  const send = (name: string, length = LARGE): void => {
    if (flow.take(length, () => send(name, length))) sent.push(name)
  }
  for (const name of ['a', 'b', 'c', 'd']) send(name)
  send('small', 100)
  assert.equal([sent, flow.isCrowded()], [['a', 'b', 'small'], true])
  flow.giveBack(LARGE)
  flow.giveBack(100)
  assert.equal(sent, ['a', 'b', 'small', 'c'])
  flow.giveBack(LARGE)
  assert.equal([sent.at(-1), flow.isCrowded()], ['d', false])
})

test('one that is larger than the limit goes alone', () => {
  const flow = newFlow(LARGE)
  assert.ok(flow.take(3 * LARGE, () => {}))
  let resumed = 0
  assert.not(flow.take(LARGE, () => (resumed += 1)))
  flow.giveBack(3 * LARGE)
  assert.is(resumed, 1)
})

test.run()
