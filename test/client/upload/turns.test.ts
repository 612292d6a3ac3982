import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newTurns } from '../../../src/client/upload/turns.ts'
import { until } from '../../support/until.ts'

const test = suite('turns of sessions')
const goOn = new AbortController().signal

test('the given number of tasks run at once, the others in their order, even after one that fails', async () => {
  const newTurn = newTurns(2, goOn)
  const began: number[] = []
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const runs = gates.map(({ promise }, i) =>
    newTurn().during(async () => {
      began.push(i)
      await promise
    }),
  )
  await until(() => began.length === 2)
  gates[1]!.reject(new Error('it fails'))
  assert.match(String(await runs[1]!.catch((error: unknown) => error)), 'it fails')
  await until(() => began.length === 3)
  assert.equal(began, [0, 1, 2])
  for (const { resolve } of gates) resolve()
  await Promise.all([runs[0], runs[2], runs[3]])
  assert.equal(began, [0, 1, 2, 3])
})

test('a task that waits lets another one run, and continues after it', async () => {
  const newTurn = newTurns(1, goOn)
  const steps: string[] = []
  const answer = Promise.withResolvers<string>()
  const end = Promise.withResolvers<void>()
  const turn = newTurn()
  const first = turn.during(async () => {
    steps.push('first asks')
    steps.push(await turn.pausedFor(() => answer.promise))
  })
  const second = newTurn().during(async () => {
    steps.push('second works')
    await end.promise
    steps.push('second ends')
  })
  await until(() => steps.includes('second works'))
  answer.resolve('first goes on')
  await answer.promise
  end.resolve()
  await Promise.all([first, second])
  assert.equal(steps, ['first asks', 'second works', 'second ends', 'first goes on'])
})

test('no task begins once the run has ended', async () => {
  const stop = new AbortController()
  const newTurn = newTurns(1, stop.signal)
  const end = Promise.withResolvers<void>()
  let hasBegun = false
  const first = newTurn().during(() => ((hasBegun = true), end.promise))
  await until(() => hasBegun)
  const second = newTurn()
    .during(async () => 'it began')
    .catch((error: unknown) => error)
  stop.abort(new Error('stopped'))
  end.resolve()
  await first
  assert.match(String(await second), 'stopped')
})

test.run()
