import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newSharedReads } from '../../../../src/eventstore/log/eventstoredb/shared-reads.ts'
import { stillHeld } from '../../../support/held-objects.ts'
import type { ReadPage } from '../../../../src/eventstore/log/eventstoredb/reader.ts'
import { until } from '../../../support/until.ts'

/** SharedReads whose reads are answered by hand. */
const newScene = () => {
  const reads: {
    after: bigint
    signal: AbortSignal
    answer: (through: bigint, events?: ReadPage['events']) => void
    fail: () => void
  }[] = []
  let version = 0
  let clock = 0
  let verification: number | undefined = 0
  const noted: (string | undefined)[] = []
  const guard = {
    verification: () => verification,
    noteRead: (event: { id: string } | undefined) => void noted.push(event?.id),
  }
  /** A call fails; then the log is verified again. */
  const fail = () => void (verification = undefined)
  const verify = () => void (verification = 1)
  const read = (after: bigint, { signal }: { signal: AbortSignal }) =>
    new Promise<ReadPage>((resolve, reject) => {
      const answer = (through: bigint, events: ReadPage['events'] = []) =>
        resolve({ events, through, isLast: true, isSparse: false })
      reads.push({ after, signal, answer, fail: () => reject(new Error('away')) })
    })
  const sharedReads = newSharedReads({ count: () => version, read, guard, now: () => clock })
  /** Looks at so many positions, each of which has a page; gives at how many of them a page is kept. */
  const lookAt = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const { page } = sharedReads.after(BigInt(i))
      reads.at(-1)!.answer(BigInt(i + 1))
      await page
    }
    const before = reads.length
    for (let i = 0; i < count; i++) sharedReads.after(BigInt(i))
    return count - (reads.length - before)
  }
  /** Looks at a position, and gets a page through another one. */
  const readThrough = async (position: bigint, through: bigint) => {
    const look = sharedReads.after(position)
    reads.at(-1)!.answer(through)
    await look.page
    return look
  }
  return {
    reads,
    sharedReads,
    lookAt,
    readThrough,
    identity: { fail, verify, noted },
    wake: () => void (version += 1),
    pass: (ms: number) => void (clock += ms),
  }
}

test('followers at one position share a read, pending or done, with the count at its beginning', async () => {
  const { reads, sharedReads, wake } = newScene()
  const first = sharedReads.after(5n)
  wake()
  const second = sharedReads.after(5n)
  reads[0]!.answer(9n)
  assert.equal([(await first.page)?.through, (await second.page)?.through], [9n, 9n])
  const third = sharedReads.after(5n)
  assert.equal([first.seen, second.seen, third.seen, reads.length], [0, 0, 0, 1])
  assert.is(sharedReads.after(9n).seen, 1)
})

test('a read that found nothing, or failed, is not shared with later followers', async () => {
  const { reads, sharedReads } = newScene()
  const empty = sharedReads.after(5n)
  reads[0]!.answer(5n)
  await empty.page
  const failed = sharedReads.after(5n)
  reads[1]!.fail()
  assert.is(await failed.page, undefined)
  sharedReads.after(5n)
  assert.is(reads.length, 3)
})

test('a slow follower gets the pages that others have read meanwhile as one page', async () => {
  const { reads, sharedReads, wake, pass } = newScene()
  const event = (position: bigint) => ({
    ...{ id: `${position}`, type: 'Noted', data: '{}', metadata: '{}', stream: 'a' },
    ...{ revision: position, position },
  })
  /** Pages of three events each, of which each begins after the one before. */
  const pageAt = async (after: bigint) => {
    const { page, seen } = sharedReads.after(after)
    const events = [1n, 2n, 3n].map((step) => event(after + step))
    if (reads.at(-1)?.after === after) reads.at(-1)!.answer(after + 3n, events)
    return { page: (await page)!, seen }
  }
  const first = await pageAt(0n)
  const positions = (count: number) => {
    const { page, seen } = sharedReads.joined(first, count)
    return [page.events.map(({ position }) => Number(position)), Number(page.through), seen]
  }
  assert.equal(positions(9), [[1, 2, 3], 3, 0])
  for (const after of [3n, 6n, 9n]) {
    wake()
    await pageAt(after)
  }
  sharedReads.after(12n) // has not come
  assert.equal(positions(9), [[1, 2, 3, 4, 5, 6, 7, 8, 9], 9, 2])
  assert.equal(positions(4), [[1, 2, 3, 4, 5, 6], 6, 1])
  assert.equal(positions(99), [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 12, 3])
  pass(10_000)
  assert.equal(positions(99), [[1, 2, 3], 3, 0])
  await pageAt(3n)
  sharedReads.forget()
  assert.equal(positions(99), [[1, 2, 3], 3, 0])
})

test('the last follower to leave ends the read, and each leaves once', () => {
  const { reads, sharedReads } = newScene()
  const [first, second] = [sharedReads.after(5n), sharedReads.after(5n)]
  first.leave()
  first.leave()
  assert.not(reads[0]!.signal.aborted)
  second.leave()
  assert.ok(reads[0]!.signal.aborted)
  sharedReads.after(5n)
  assert.is(reads.length, 2)
})

test('pages without events of ours have a size, so they are evicted, too', async () => {
  const kept = await newScene().lookAt(10_000)
  assert.ok(kept > 1_000 && kept < 3_000)
})

test('a page is kept for ten seconds, whatever its size', async () => {
  const { reads, sharedReads, pass } = newScene()
  const held = new Set<WeakRef<ReadPage>>()
  const look = async (position: bigint) => {
    const { page } = sharedReads.after(position)
    reads.pop()!.answer(position + 1n)
    held.add(new WeakRef((await page)!))
  }
  for (let i = 0n; i < 100n; i++) await look(i)
  await until(() => stillHeld(held) === 100)
  pass(10_001)
  await look(1_000n)
  await until(() => stillHeld(held) <= 1)
})

test('a page that was read while a call failed, or before the log was verified, is not kept; the last event of one that is kept is noted', async () => {
  const { reads, sharedReads, identity } = newScene()
  const event = { id: 'e', type: 'Noted', data: '{}', metadata: '{}', stream: 'a', revision: 0n, position: 9n }
  const look = async (meanwhile = () => {}) => {
    const { page } = sharedReads.after(5n)
    meanwhile()
    reads.at(-1)!.answer(9n, [event])
    await page
  }
  await look(identity.fail)
  await look()
  await look(identity.verify)
  assert.equal([reads.length, identity.noted], [3, []])
  await look()
  await look()
  assert.equal([reads.length, identity.noted], [4, ['e']])
})

test('a follower that ends does not take a page from slower ones', async () => {
  const { reads, sharedReads, readThrough } = newScene()
  const fast = await readThrough(5n, 9n)
  fast.leave()
  sharedReads.after(5n)
  assert.is(reads.length, 1)
})

test('pages are dropped when some of their events may have been erased', async () => {
  const { reads, sharedReads, readThrough } = newScene()
  await readThrough(5n, 9n)
  sharedReads.forget()
  await readThrough(5n, 9n)
  sharedReads.forget(7n)
  await readThrough(5n, 9n)
  assert.is(reads.length, 3)
  sharedReads.forget(7n) // read once more, by another reader
  sharedReads.after(5n)
  assert.is(reads.length, 3)
})

test.run()
