import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diskGuard, freeBytes } from '../../../src/eventstore/embedded/disk.ts'

const test = suite('disk guard')
const MIB = 1024 * 1024

/** A disk and a clock that obey. */
const simulation = () => {
  const disk = { freeMb: 1000, looks: 0, time: 0, broken: false }
  const statfs = () => {
    disk.looks++
    if (disk.broken) throw new Error('EIO')
    return { bavail: disk.freeMb, bsize: MIB }
  }
  return { disk, statfs, now: () => disk.time }
}

test('counts what an unprivileged user may still write', () => {
  const { bavail, bsize } = statfsSync(tmpdir())
  const free = freeBytes(tmpdir())
  assert.ok(free > 0 && Math.abs(free - bavail * bsize) < 1024 * MIB)
  assert.is(
    freeBytes('/', () => ({ bavail: 3, bsize: 4096 })),
    12_288,
  )
})

test('refuses below the reserve, and accepts again when there is room', () => {
  const { disk, statfs, now } = simulation()
  const isFull = diskGuard({ dir: '/', reserveMb: 100, statfs, now })
  const at = (freeMb: number) => {
    disk.freeMb = freeMb
    disk.time += 1000
    return isFull()
  }
  assert.equal([1000, 100, 99, 0, 100].map(at), [false, false, true, true, false])
})

test('says whether so many bytes more would leave the reserve, without reporting that', () => {
  const { statfs, now } = simulation()
  const onChange = () => assert.unreachable()
  const isLow = diskGuard({ dir: '/', reserveMb: 100, statfs, now, onChange })
  assert.equal([isLow(), isLow(900 * MIB), isLow(900 * MIB + 1)], [false, false, true])
})

test('reports each change once', () => {
  const { disk, statfs, now } = simulation()
  const told: boolean[] = []
  const isFull = diskGuard({ dir: '/', reserveMb: 100, statfs, now, onChange: (isLow) => told.push(isLow) })
  for (const freeMb of [1000, 99, 98, 100, 1000, 0]) {
    disk.freeMb = freeMb
    disk.time += 1000
    isFull()
  }
  assert.equal(told, [true, false, true])
})

test('reserves 256 MiB by default', () => {
  const { disk, statfs, now } = simulation()
  const full = (freeMb: number) => {
    disk.freeMb = freeMb
    return diskGuard({ dir: '/', statfs, now })()
  }
  assert.equal([256, 255].map(full), [false, true])
})

test('checks at most once in 250 ms, however often it is called', () => {
  const { disk, statfs, now } = simulation()
  const isFull = diskGuard({ dir: '/', statfs, now })
  for (disk.time = 0; disk.time < 500; disk.time++) isFull()
  assert.is(disk.looks, 2)
})

test('refuses nothing when the file system does not answer', () => {
  const { disk, statfs, now } = simulation()
  disk.broken = true
  assert.is(diskGuard({ dir: '/', statfs, now })(), false)
})

test('works on a real folder', () => {
  assert.is(diskGuard({ dir: tmpdir(), reserveMb: 0 })(), false)
  assert.is(diskGuard({ dir: tmpdir(), reserveMb: 1e12 })(), true)
})

test.run()
