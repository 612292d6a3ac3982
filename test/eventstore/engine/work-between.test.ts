import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { workBetween } from '../../../src/eventstore/engine/work-between.ts'
import type { Batch } from '../../../src/eventstore/log/log.ts'

const test = suite('engine: work between batches')

/** A log whose batches come when `add` is called, and what happens to it and to the work, in order. */
const newScene = () => {
  const happened: string[] = []
  const waiting: Batch<string>[] = []
  let wake = () => {}
  async function* follow(signal: AbortSignal) {
    signal.addEventListener('abort', () => wake())
    try {
      while (!signal.aborted) {
        const next = waiting.shift()
        if (next) yield next
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      happened.push('ended')
    }
  }
  const add = (...events: string[]) => {
    waiting.push({ events, through: 0n })
    wake()
  }
  return { happened, follow, add }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a batch that has come goes before the rest of the work; each batch with events is followed by some of it', async () => {
  const { happened, follow, add } = newScene()
  let left = 3
  add('one')
  const work = async () => {
    await turn()
    if (left === 0) return false
    happened.push(`work ${left--}`)
    if (left === 1) add('three')
    return true
  }
  for await (const { events } of workBetween(follow, work)) {
    happened.push(...events)
    if (events[0] === 'one') add('two')
    if (events[0] === 'three') add('four')
    if (events[0] === 'four') break
  }
  assert.equal(happened, ['work 3', 'one', 'work 2', 'two', 'work 1', 'three', 'four', 'ended'])
})

test('without a batch all of the work is done, and then it is asked again only after a batch with events', async () => {
  const { happened, follow, add } = newScene()
  let left = 2
  const work = async () => {
    await turn()
    happened.push(left === 0 ? 'no work' : `work ${left}`)
    if (left > 0) return left-- > 0
    if (!happened.includes('first')) add('first')
    return false
  }
  for await (const { events } of workBetween(follow, work)) {
    happened.push(...(events.length > 0 ? events : ['empty']))
    if (events[0] === 'first') add()
    if (events.length === 0) add('last')
    if (events[0] === 'last') break
  }
  assert.equal(happened, ['work 2', 'work 1', 'no work', 'first', 'no work', 'empty', 'last', 'ended'])
})

test('an error of the work ends the log that is followed', async () => {
  const { happened, follow } = newScene()
  const work = async (): Promise<boolean> => {
    throw new Error('broken')
  }
  await Array.fromAsync(workBetween(follow, work)).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'broken'),
  )
  assert.equal(happened, ['ended'])
})

test.run()
