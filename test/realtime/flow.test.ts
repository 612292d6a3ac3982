import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Flow, newFlow } from '../../src/realtime/flow.ts'

const test = suite('realtime: what is on its way')

const LARGE = 100_000

/** Sends frames by name, each again once it may go. */
const newSender = (flow: Flow, sent: string[]) => {
  const frames = new Map<string, Buffer>()
  const resumes = new Map<string, () => void>()
  const send = (name: string, length = LARGE): void => {
    const frame = frames.get(name) ?? Buffer.alloc(length)
    frames.set(name, frame)
    const resume = resumes.get(name) ?? (() => send(name))
    resumes.set(name, resume)
    if (flow.take(frame, resume)) sent.push(name)
  }
  return { send, frame: (name: string) => frames.get(name)!, resume: (name: string) => resumes.get(name)! }
}

test('frames beyond the limit wait until there is room, in their order', () => {
  const flow = newFlow(2 * LARGE)
  const sent: string[] = []
  const { send, frame } = newSender(flow, sent)
  for (const name of ['a', 'b', 'c', 'd']) send(name)
  send('small', 100)
  assert.equal([sent, flow.isCrowded()], [['a', 'b', 'small'], true])
  flow.giveBack(frame('a'))
  flow.giveBack(frame('small'))
  assert.equal(sent, ['a', 'b', 'small', 'c'])
  flow.giveBack(frame('b'))
  assert.equal([sent.at(-1), flow.isCrowded()], ['d', false])
})

test('one that has come first is not overtaken by smaller ones, and one that has left holds up nobody', () => {
  const flow = newFlow(4 * LARGE)
  const sent: string[] = []
  const { send, frame, resume } = newSender(flow, sent)
  send('a', 3 * LARGE)
  send('large', 2 * LARGE)
  send('b', LARGE)
  send('c', LARGE)
  assert.equal(sent, ['a'])
  flow.leave(resume('b'))
  flow.giveBack(frame('a'))
  assert.equal([sent, flow.isCrowded()], [['a', 'large', 'c'], false])
})

test('one that wants nothing more when its turn comes lets the next go on', () => {
  const flow = newFlow(LARGE)
  const [first, second, third] = [Buffer.alloc(LARGE), Buffer.alloc(LARGE), Buffer.alloc(LARGE)]
  assert.ok(flow.take(first, () => {}))
  let sent = 0
  assert.not(flow.take(second, () => {}))
  const send = () => void (flow.take(third, send) && (sent += 1))
  send()
  flow.giveBack(first)
  assert.is(sent, 1)
})

test('one that is larger than the limit goes alone', () => {
  const flow = newFlow(LARGE)
  const frame = Buffer.alloc(3 * LARGE)
  assert.ok(flow.take(frame, () => {}))
  let resumed = 0
  assert.not(flow.take(Buffer.alloc(LARGE), () => (resumed += 1)))
  flow.giveBack(frame)
  assert.is(resumed, 1)
})

test('a frame that goes to many counts once, until the last of them has it', () => {
  const flow = newFlow(2 * LARGE)
  const [shared, other] = [Buffer.alloc(2 * LARGE), Buffer.alloc(LARGE)]
  for (let i = 0; i < 100; i++) assert.ok(flow.take(shared, () => {}))
  let resumed = 0
  assert.not(flow.take(other, () => (resumed += 1)))
  for (let i = 0; i < 99; i++) flow.giveBack(shared)
  assert.is(resumed, 0)
  flow.giveBack(shared)
  assert.is(resumed, 1)
})

test.run()
