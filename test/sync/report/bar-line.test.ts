import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { barLine } from '../../../src/sync/report/bar-line.ts'

const test = suite('the line of the progress bar')
const state = { done: 0.42, messages: 1_234, rate: 1_050, secondsLeft: 42 }

test('a wide terminal shows the bar, how much is done, the rate and the time left', () => {
  assert.is(barLine(state, 60), '■■■■■■■···········  42 %  1,234 messages  1,050/s  0:42 left')
})

test('in 40 columns something of each is left, but for what matters least', () => {
  assert.is(barLine(state, 39), '■■■■■········  42 %  1,050/s  0:42 left')
  assert.is(barLine(state, 20), '42 %  0:42 left')
  assert.is(barLine(state, 5), '42 %')
})

test('no line is wider than it may be', () => {
  for (let width = 0; width < 120; width++)
    for (const done of [0, 0.004, 0.5, 0.999, 1])
      for (const secondsLeft of [undefined, 0, 59, 100_000]) {
        const line = barLine({ done, messages: 1_234_567, rate: 12_345, secondsLeft }, width)
        assert.ok(line.length <= width, `${width}: ${line}`)
      }
})

test('what is not known yet is not shown', () => {
  assert.is(barLine({ done: 0, messages: 1, rate: 0, secondsLeft: undefined }, 30), '··············  0 %  1 message')
})

test.run()
