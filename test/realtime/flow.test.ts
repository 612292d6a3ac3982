import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Flow, newFlow } from '../../src/realtime/flow.ts'

const test = suite('realtime: what is on its way')

const LARGE = 100_000

/** Sends frames by name, each again once it may go. */
const newSender = (flow: Flow, sent: string[]) => {
  const resumes = new Map<string, () => void>()
  const send = (name: string, length = LARGE): void => {
    const resume = resumes.get(name) ?? (() => send(name, length))
    resumes.set(name, resume)
    if (flow.take(length, resume)) sent.push(name)
  }
  return { send, resumes }
}

test('frames beyond the limit wait until there is room, in their order', () => {
  const flow = newFlow(2 * LARGE)
  const sent: string[] = []
  const send = newSender(flow, sent).send
  for (const name of ['a', 'b', 'c', 'd']) send(name)
  send('small', 100)
  assert.equal([sent, flow.isCrowded()], [['a', 'b', 'small'], true])
  flow.giveBack(LARGE)
  flow.giveBack(100)
  assert.equal(sent, ['a', 'b', 'small', 'c'])
  flow.giveBack(LARGE)
  assert.equal([sent.at(-1), flow.isCrowded()], ['d', false])
})

test('one that has come first is not overtaken by smaller ones, and one that has left holds up nobody', () => {
  const flow = newFlow(4 * LARGE)
  const sent: string[] = []
  const { send, resumes } = newSender(flow, sent)
  send('a', 3 * LARGE)
  send('large', 2 * LARGE)
  send('b', LARGE)
  send('c', LARGE)
  assert.equal(sent, ['a'])
  flow.leave(resumes.get('b')!)
  flow.giveBack(3 * LARGE)
  assert.equal([sent, flow.isCrowded()], [['a', 'large', 'c'], false])
})

test('one that wants nothing more when its turn comes lets the next go on', () => {
  const flow = newFlow(LARGE)
  assert.ok(flow.take(LARGE, () => {}))
  let sent = 0
  assert.not(flow.take(LARGE, () => {}))
  const send = () => void (flow.take(LARGE, send) && (sent += 1))
  send()
  flow.giveBack(LARGE)
  assert.is(sent, 1)
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
