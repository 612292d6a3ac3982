import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Figures, Growth, Size } from '../../../src/commands/doctor/figures.ts'
import {
  INDEXED_ROWS,
  type Limit,
  REBUILT_EVENTS,
  SOON_DAYS,
  daysUntil,
  endsSoon,
  limitsOf,
} from '../../../src/commands/doctor/limits.ts'

const test = suite('tracebook doctor: what ends, and when')

const GB = 1e9

const size = (part: string, bytes: number, rows = 0): Size => ({ part, bytes, rows, isEstimate: false })

/** A healthy service: a million events in 10 GB, of which half are read models; 10,000 more a day make 100 MB. */
const healthy: Figures = {
  events: 1_000_000,
  growth: { lastDay: 10_000, lastWeek: 70_000 },
  sizes: [size('log', 4 * GB), size('tree', GB), size('main', 4 * GB), size('search', GB, 500_000)],
  disk: { folder: '/data', used: 20 * GB, free: 100 * GB, reserve: GB },
  connections: { open: 20, free: 77, processes: 1, ours: 20, ofEach: 42 },
  segments: 20,
  lags: [{ group: 'main', events: 3, ms: 40, isStopped: false }],
  wal: { slots: [], perDay: GB },
  missing: [],
}

/** What ends of these figures, by name. */
const given = (figures: Partial<Figures>) => {
  const limits = limitsOf({ ...healthy, ...figures })
  return (name: string): Limit => limits.find((limit) => limit.name === name)!
}

test('of a healthy service nothing ends soon', () => {
  const limits = limitsOf(healthy)
  assert.equal(
    limits.map(({ name, days }) => [name, days === undefined ? undefined : Math.floor(days)]),
    [
      ['disk', 990],
      ['room', 626], // grows by those of the copy as well
      ['connections', undefined],
      ['segments', 392_586],
      ['rebuild', 13_106],
      ['lag', undefined],
      ['wal', undefined],
    ],
  )
  assert.not(limits.some(endsSoon))
})

test('a disk with 2 GB to fill by 100 MB a day ends in 20 days, and one below its reserve has ended', () => {
  const disk = (free: number) => given({ disk: { folder: '/data', used: 20 * GB, free, reserve: GB } })('disk')
  assert.equal([disk(3 * GB).now, disk(3 * GB).limit, disk(3 * GB).days], [20 * GB, 22 * GB, 20])
  assert.ok(endsSoon(disk(3 * GB)))
  assert.is(disk(GB).days, 0)
  assert.is(disk(GB / 2).days, 0)
  assert.match(disk(GB).helps, 'retentionDays')
})

test('read models need room for a second copy before the disk is full', () => {
  const seen = given({ disk: { folder: '/data', used: 20 * GB, free: 6 * GB, reserve: GB } })
  assert.is(seen('room').days, 0)
  assert.is(seen('disk').days, 50)
})

test('the growth of a day is the mean of the last week if that is more, and unknown in the first day', () => {
  const days = (growth: Growth) => given({ growth })('disk').days
  assert.is(days({ lastDay: 10_000, lastWeek: 140_000 }), 495)
  assert.is(days({ lastDay: 10_000 }), 990)
  assert.is(days({ lastDay: 0, lastWeek: 0 }), undefined)
  const { days: none, unknown } = given({ growth: {} })('disk')
  assert.equal([none, unknown], [undefined, 'the growth is not known yet, because the log is less than a day old'])
  assert.is(given({ growth: {}, disk: { folder: '/', used: 1, free: 0, reserve: 0 } })('disk').days, 0, 'is full')
})

test('of a log elsewhere no growth is seen, which is said', () => {
  const seen = given({ growth: { unseen: 'the log is elsewhere' }, lags: { unseen: 'the log is elsewhere' } })
  for (const name of ['disk', 'segments', 'rebuild', 'lag']) assert.is(seen(name).unknown, 'the log is elsewhere')
})

test('a disk that is not seen is not known', () => {
  const seen = given({ disk: { unseen: 'it is elsewhere' } })
  assert.is(seen('disk').unknown, 'it is elsewhere')
  assert.is(seen('room').unknown, 'it is elsewhere')
})

test('connections end when all processes may open more than the server takes', () => {
  const of = (processes: number, ours: number, ofEach = 42) =>
    given({ connections: { open: 30, free: 70, processes, ours, ofEach } })('connections')
  assert.equal([of(2, 20).now, of(2, 20).limit, of(2, 20).days], [94, 100, undefined])
  assert.equal([of(3, 20).now, of(3, 20).days], [136, 0])
  assert.is(of(0, 0).now, 72, 'one that is started')
  assert.is(of(2, 30, 50).days, undefined, 'the last one is not one too many')
  assert.match(of(3, 20).helps, 'max_connections')
})

test('segments of the search index are merged, so that four million rows add one', () => {
  // 5,000 rows a day
  assert.is(Math.floor(given({ segments: 480 })('segments').days!), 6_710)
  assert.is(given({ segments: 488 })('segments').days, 0)
  assert.is(given({ segments: { unseen: 'it is not built' } })('segments').unknown, 'it is not built')
})

test('a rebuild takes the time that the benchmark measures', () => {
  assert.is(given({})('rebuild').now, Math.ceil(1e6 / REBUILT_EVENTS + 5e5 / INDEXED_ROWS))
  const bench = readFileSync(join(import.meta.dirname, '..', '..', 'bench', 'README.md'), 'utf8')
  for (const figure of [
    `| rebuild | ${REBUILT_EVENTS.toLocaleString('en')} events/s`,
    `${INDEXED_ROWS.toLocaleString('en')} rows`,
  ])
    assert.ok(bench.includes(figure), figure)
})

test('read models that are late, or have stopped, have ended', () => {
  const lag = (ms: number, isStopped = false) => {
    const main = { group: 'main', events: 1, ms, isStopped: false }
    return given({ lags: [main, { group: 'search', events: 9, ms: 60_000, isStopped }] })('lag')
  }
  assert.equal([lag(4_000).days, lag(5_000).days, lag(0, true).days], [undefined, 0, 0])
  assert.match(lag(0, true).helps, 'tracebook log quarantine')
})

test('WAL for a standby that is away ends where its limit is, or the disk', () => {
  const slot = { name: 'away', isActive: false, status: 'extended', kept: 10 * GB }
  const of = (figures: Partial<Figures>) => given(figures)('wal')
  assert.is(of({ wal: { slots: [slot], most: 30 * GB, perDay: GB } }).days, 20)
  assert.is(of({ wal: { slots: [slot], perDay: GB } }).days, 99, 'until the reserve of the disk')
  assert.match(of({ wal: { slots: [slot], most: 30 * GB } }).unknown!, 'not known yet')
  assert.match(of({ wal: { slots: [slot], perDay: GB }, disk: { unseen: 'it is elsewhere' } }).unknown!, 'no limit')
  assert.is(of({ wal: { slots: [{ ...slot, status: 'lost' }], most: GB } }).days, 0)
  assert.match(of({ wal: { slots: [slot], most: GB } }).helps, "pg_drop_replication_slot('away')")
  const active = { ...slot, name: 'there', isActive: true, kept: GB }
  assert.is(of({ wal: { slots: [active], most: 30 * GB, perDay: GB } }).days, undefined)
  assert.is(of({ wal: { slots: [active, slot], most: 30 * GB, perDay: GB } }).days, 20, 'the first one to end counts')
})

const amount = fc.double({ min: 1, max: 1e15, noNaN: true })

test('whatever the amounts, the growth reaches the limit on the day that is said, and not before', () =>
  fc.assert(
    fc.property(
      amount,
      amount,
      fc.option(fc.double({ min: 0.001, max: 1e12, noNaN: true }), { nil: undefined }),
      (now, limit, perDay) => {
        const days = daysUntil({ now, limit, perDay })
        if (now >= limit) return assert.is(days, 0)
        if (perDay === undefined) return assert.is(days, undefined)
        assert.ok(days! >= 0 && Math.abs(now + days! * perDay - limit) <= limit * 1e-9, `${days}`)
      },
    ),
  ))

const count = fc.nat({ max: 1_000_000_000 })

const figures: fc.Arbitrary<Figures> = fc
  .record({ events: count, lastDay: count, bytes: count, rows: count, used: count, free: count, reserve: count })
  .map(({ events, lastDay, bytes, rows, used, free, reserve }) => ({
    ...healthy,
    events,
    growth: { lastDay },
    sizes: [size('log', bytes), size('main', bytes / 2), size('search', bytes / 4, rows)],
    disk: { folder: '/data', used, free, reserve },
  }))

test('whatever is found, more room or less growth ends nothing sooner', () => {
  const endOf = (limit: Limit) => limit.days ?? Infinity
  fc.assert(
    fc.property(figures, count, (found, more) => {
      const disk = found.disk as Exclude<Figures['disk'], { unseen: string }>
      const { lastDay = 0 } = found.growth as Growth
      const better = {
        ...found,
        disk: { ...disk, free: disk.free + more },
        growth: { lastDay: Math.max(0, lastDay - more) },
      }
      const after = limitsOf(better)
      for (const [i, limit] of limitsOf(found).entries()) {
        assert.ok(endOf(limit) >= 0, limit.name)
        assert.ok(endOf(after[i]!) >= endOf(limit), limit.name)
        assert.is(endsSoon(limit), endOf(limit) <= SOON_DAYS)
      }
    }),
  )
})

test.run()
