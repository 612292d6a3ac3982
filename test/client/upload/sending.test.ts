import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newBudget, newTurns } from '../../../src/client/upload/turns.ts'
import { newSending } from '../../../src/client/upload/sending.ts'
import type { EncodedMessage } from '../../../src/client/upload/encode.ts'
import { until } from '../../support/until.ts'

const test = suite('batches of a session')

const BYTES = 100
const batch = (externalId: string, bytes = 40): readonly EncodedMessage[] => [
  { externalId, line: 1, json: Buffer.alloc(bytes), digest: new Uint8Array(), truncations: [] },
]
const yes = async () => true

const setUp = (send: (batch: readonly EncodedMessage[]) => Promise<void>) => {
  const stop = new AbortController()
  const [budget, turn] = [newBudget(BYTES), newTurns(1, stop.signal)()]
  return { stop, budget, turn, sending: newSending({ send, budget, turn, signal: stop.signal }) }
}

/** Whether all of the budget is free; asked at the end, because the question takes it. */
const isFree = async ({ take }: ReturnType<typeof newBudget>): Promise<boolean> => {
  let taken = false
  void take(BYTES).then(() => (taken = true))
  await new Promise(setImmediate)
  return taken
}

test('batches of a session are sent one after the other, even if the budget has room for both', async () => {
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const steps: string[] = []
  const { sending, turn, budget } = setUp(async ([first]) => {
    steps.push(`${first!.externalId} goes`)
    await answers[steps.length === 1 ? 0 : 1]!.promise
  })
  await turn.during(async () => {
    assert.ok(await sending.add(batch('a'), yes))
    const second = sending.add(batch('b'), async () => steps.push('b is prepared') > 0)
    await new Promise(setImmediate)
    assert.equal(steps, ['a goes'])
    answers[0]!.resolve()
    assert.ok(await second)
    assert.equal(steps, ['a goes', 'b is prepared', 'b goes'])
    answers[1]!.resolve()
    await sending.finish()
  })
  assert.ok(await isFree(budget))
})

test('a batch that is not sent takes none of the budget, whether there is no trace, its creation failed, or the run has ended', async () => {
  const sent: string[] = []
  const { sending, turn, budget, stop } = setUp(async ([first]) => void sent.push(first!.externalId))
  await turn.during(async () => {
    assert.is(await sending.add(batch('a'), async () => false), false)
    const failed = sending.add(batch('b'), async () => Promise.reject(new Error('no trace')))
    assert.match(String(await failed.catch((error: unknown) => error)), 'no trace')
    stop.abort(new Error('stopped'))
    assert.match(String(await sending.add(batch('c'), yes).catch((error: unknown) => error)), 'stopped')
  })
  assert.equal(sent, [])
  assert.ok(await isFree(budget))
})

test('no batch of a session is sent after one that failed', async () => {
  const sent: string[] = []
  const { sending, turn, budget } = setUp(async ([first]) => {
    sent.push(first!.externalId)
    throw new Error('refused')
  })
  await turn.during(async () => {
    await sending.add(batch('a'), yes)
    const second = await sending.add(batch('b'), yes).catch((error: unknown) => error)
    assert.match(String(second), 'refused')
    assert.match(String(await sending.finish().catch((error: unknown) => error)), 'refused')
  })
  assert.equal(sent, ['a'])
  assert.ok(await isFree(budget))
})

test('another session continues while a batch is being sent', async () => {
  const answer = Promise.withResolvers<void>()
  const newTurn = newTurns(1, new AbortController().signal)
  const turn = newTurn()
  const sending = newSending({
    send: () => answer.promise,
    budget: newBudget(BYTES),
    turn,
    signal: new AbortController().signal,
  })
  let worked = false
  const first = turn.during(async () => {
    await sending.add(batch('a'), yes)
    await sending.finish()
  })
  await newTurn().during(async () => void (worked = true))
  await until(() => worked)
  answer.resolve()
  await first
})

test.run()
