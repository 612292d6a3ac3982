import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { inOneFile, stampOf } from '../../../src/client/agents/support/files.ts'
import type { Change } from '../../../src/client/watch/changes.ts'
import { newLatenessCheck } from '../../../src/client/watch/agenda.ts'
import { newReach } from '../../../src/client/watch/reach.ts'
import { newWaiting, scanIntervalMs } from '../../../src/client/watch/watch-sessions.ts'

const test = suite('the parts of a watch')

test('a timer that fired late, a machine that slept and a clock that was set are noticed', () => {
  const isLate = newLatenessCheck(5_000, { monotonic: 0, wall: 1_000_000 })
  const steps: [number, number, boolean, string][] = [
    [5_000, 1_005_000, false, 'in time'],
    [10_300, 1_010_250, false, 'a little late'],
    [40_000, 1_040_000, true, 'the process stood still'],
    [45_000, 1_045_000, false, 'in time again'],
    [50_000, 4_650_000, true, 'the machine slept'],
    [55_000, 4_655_000, false, 'in time again'],
    [60_000, 1_060_000, true, 'the clock was set back'],
  ]
  for (const [monotonic, wall, expected, what] of steps) assert.is(isLate({ monotonic, wall }), expected, what)
})

test('scans take a small share of the time, for any duration of a scan', () => {
  assert.is(scanIntervalMs(5, true), 10_000)
  assert.is(scanIntervalMs(300, true), 75_000)
  assert.is(scanIntervalMs(60_000, true), 600_000)
  assert.is(scanIntervalMs(5, false), 1_500)
  assert.is(scanIntervalMs(300, false), 15_000)
})

const change = (source: string, stamp = '1'): Change => ({
  agent: claudeCode,
  stored: { ...inOneFile(source, stamp), read: () => Promise.reject(new Error('not read')) },
})
const sources = (changes: readonly Change[]) => changes.map(({ stored }) => stored.source)

test('a fresh change is taken before changes found by a scan, which are not delayed forever', () => {
  const waiting = newWaiting()
  for (let i = 0; i < 100; i++) waiting.add(change(`old ${i}`))
  waiting.addFresh(change('old 70'))
  const first = waiting.take()
  assert.equal(sources(first).slice(0, 2), ['old 70', 'old 0'])
  assert.is(first.length, 11)
  const rest = [...waiting.take(), ...waiting.take()]
  assert.is(new Set(sources([...first, ...rest])).size, 100)
  assert.ok(waiting.isEmpty())
})

test('only the latest change of a session is queued', () => {
  const waiting = newWaiting()
  waiting.addFresh(change('a', '1'))
  waiting.add(change('a', '2'))
  assert.equal(
    waiting.take().map(({ stored }) => stampOf(stored)),
    ['2'],
  )
  assert.ok(waiting.isEmpty())
})

test('a service counts as unreachable after two seconds without an answer, and this is reported once', () => {
  const said: string[] = []
  const reach = newReach('http://server', ({ state }) => void said.push(state))
  reach.noteWait(1_500)
  reach.noteAnswer()
  reach.noteWait(1_500)
  assert.equal(said, [])
  for (const ms of [600, 4_000, 8_000]) reach.noteWait(ms)
  reach.noteAnswer()
  reach.noteAnswer()
  assert.equal(said, ['out of reach', 'back'])
})

test.run()
