import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newLineBudget } from '../../../src/server/http/line-budget.ts'
import { until } from '../../support/until.ts'

const test = suite('http: bounds of lines in the log')

const scene = (options: { mostOfAll?: number; periodMs?: number } = {}) => {
  const reported: string[] = []
  const report = (kind: string, count: number) => void reported.push(`${kind} ${count}`)
  const budget = newLineBudget({ report, ...options })
  const takes = (times: number, kind: string, cause: string, most: number) =>
    Array.from({ length: times }, () => budget.take(kind, cause, most)).filter((taken) => taken).length
  return { budget, reported, takes }
}

test('each cause of each kind has its own lines; further events are counted by kind', () => {
  const { budget, reported, takes } = scene()
  assert.is(takes(5, 'forbidden', 'ada', 2), 2)
  assert.is(takes(5, 'forbidden', 'eve', 2), 2)
  assert.is(takes(1, 'hidden', 'ada', 2), 1)
  budget.close()
  assert.equal(reported, ['forbidden 6'])
})

test('all causes together have a bound, too', () => {
  const { budget, reported, takes } = scene({ mostOfAll: 10 })
  for (let i = 0; i < 100; i++) takes(1, 'forbidden', `address ${i}`, 5)
  budget.close()
  assert.equal(reported, ['forbidden 90'])
})

test('at the end of a period the count is reported once, and there are lines again', async () => {
  const { reported, takes } = scene({ periodMs: 1 })
  assert.is(takes(3, 'forbidden', 'ada', 1), 1)
  await until(() => reported.length > 0)
  assert.equal(reported, ['forbidden 2'])
  assert.is(takes(1, 'forbidden', 'ada', 1), 1)
})

test.run()
