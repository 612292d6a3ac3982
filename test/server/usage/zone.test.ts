import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { periodOf } from '../../../src/server/usage/days.ts'
import { zoneOffsets } from '../../../src/server/usage/zone.ts'

const test = suite('usage: what clocks say in a period')

const QUARTER_MS = 900_000
const of = (from: string, to: string, zone: string) =>
  zoneOffsets(periodOf(Date.parse(from), Date.parse(to)), zone).map(({ from, quarters }) => [
    new Date(from * QUARTER_MS).toISOString(),
    quarters / 4,
  ])

test('they are ahead of UTC by the same in a zone without summer time', () => {
  assert.equal(of('2026-01-01', '2026-12-31', 'UTC'), [['2026-01-01T00:00:00.000Z', 0]])
  assert.equal(of('2026-01-01', '2026-12-31', 'Asia/Kathmandu'), [['2026-01-01T00:00:00.000Z', 5.75]])
})

test('they are changed twice a year elsewhere', () => {
  assert.equal(of('2026-01-01', '2026-12-31', 'Europe/Berlin'), [
    ['2026-01-01T00:00:00.000Z', 1],
    ['2026-03-29T01:00:00.000Z', 2],
    ['2026-10-25T01:00:00.000Z', 1],
  ])
  assert.equal(of('2026-10-31T12:00Z', '2026-11-02', 'America/New_York'), [
    ['2026-10-31T12:00:00.000Z', -4],
    ['2026-11-01T06:00:00.000Z', -5],
  ])
})

test.run()
