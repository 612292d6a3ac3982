import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type FollowerReads, newSharedReads } from '../../../../src/eventstore/log/eventstoredb/shared-reads.ts'
import type { ReadPage } from '../../../../src/eventstore/log/eventstoredb/reader.ts'

/** SharedReads whose reads are answered by hand. */
const newScene = () => {
  const reads: {
    after: bigint
    signal: AbortSignal
    answer: (through: bigint, events?: ReadPage['events']) => void
    fail: () => void
  }[] = []
  let version = 0
  const read = (after: bigint, { signal }: { signal: AbortSignal }) =>
    new Promise<ReadPage>((resolve, reject) => {
      const answer = (through: bigint, events: ReadPage['events'] = []) =>
        resolve({ events, through, isLast: true, isSparse: false })
      reads.push({ after, signal, answer, fail: () => reject(new Error('away')) })
    })
  const sharedReads = newSharedReads({ count: () => version, read })
  /** Lets a follower get so many pages from a position on, each with the next position; then it is at the last of them. */
  const pass = async ({ after }: FollowerReads, count: number, from = 0n) => {
    for (let position = from; position < from + BigInt(count); position++) {
      const { page } = after(position)
      if (reads.at(-1)?.after === position) reads.at(-1)!.answer(position + 1n)
      await page
    }
    after(from + BigInt(count))
  }
  return { reads, sharedReads, pass, wake: () => void (version += 1) }
}

test('followers at one position share a read, pending or done, with the count at its beginning', async () => {
  const { reads, sharedReads, wake } = newScene()
  const [a, b, c] = [sharedReads.join(), sharedReads.join(), sharedReads.join()]
  const first = a.after(5n)
  wake()
  const second = b.after(5n)
  reads[0]!.answer(9n)
  assert.equal([(await first.page)?.through, (await second.page)?.through], [9n, 9n])
  const third = c.after(5n)
  assert.equal([first.seen, second.seen, third.seen, reads.length], [0, 0, 0, 1])
  assert.is(a.after(9n).seen, 1)
})

test('a read that found nothing, or failed, is not shared with later followers', async () => {
  const { reads, sharedReads } = newScene()
  const { after } = sharedReads.join()
  const empty = after(5n)
  reads[0]!.answer(5n)
  await empty.page
  const failed = after(5n)
  reads[1]!.fail()
  assert.is(await failed.page, undefined)
  after(5n)
  assert.is(reads.length, 3)
})

test('a slow follower gets the pages that others have read meanwhile as one page', async () => {
  const { reads, sharedReads, wake } = newScene()
  const [slow, fast] = [sharedReads.join(), sharedReads.join()]
  const event = (position: bigint) => ({
    ...{ id: `${position}`, type: 'Noted', data: '{}', metadata: '{}', stream: 'a' },
    ...{ revision: position, position },
  })
  /** Pages of three events each, of which each begins after the one before. */
  const pageAt = async (follower: FollowerReads, after: bigint) => {
    const { page, seen } = follower.after(after)
    const events = [1n, 2n, 3n].map((step) => event(after + step))
    if (reads.at(-1)?.after === after) reads.at(-1)!.answer(after + 3n, events)
    return { page: (await page)!, seen }
  }
  const first = await pageAt(slow, 0n)
  const positions = (count: number) => {
    const { page, seen } = slow.joined(first, count)
    return [page.events.map(({ position }) => Number(position)), Number(page.through), seen]
  }
  assert.equal(positions(9), [[1, 2, 3], 3, 0])
  for (const after of [3n, 6n, 9n]) {
    wake()
    await pageAt(fast, after)
  }
  fast.after(12n) // has not come
  assert.equal(positions(9), [[1, 2, 3, 4, 5, 6, 7, 8, 9], 9, 2])
  assert.equal(positions(4), [[1, 2, 3, 4, 5, 6], 6, 1])
  assert.equal(positions(99), [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 12, 3])
  sharedReads.forget()
  assert.equal(positions(99), [[1, 2, 3], 3, 0])
})

test('the last follower to leave ends the read, and each leaves once', () => {
  const { reads, sharedReads } = newScene()
  const [first, second] = [sharedReads.join().after(5n), sharedReads.join().after(5n)]
  first.leave()
  first.leave()
  assert.not(reads[0]!.signal.aborted)
  second.leave()
  assert.ok(reads[0]!.signal.aborted)
  sharedReads.join().after(5n)
  assert.is(reads.length, 2)
})

test('a page is read once for all followers, and kept until the last of them has passed it, or has ended', async () => {
  const { reads, sharedReads, pass } = newScene()
  const [fast, slow] = [sharedReads.join(), sharedReads.join()]
  slow.after(0n)
  await pass(fast, 100)
  await pass(slow, 50)
  assert.is(reads.length, 101)
  const late = sharedReads.join()
  late.after(49n)
  assert.is(reads.length, 102) // all had passed it
  late.after(50n)
  assert.is(reads.length, 102)
  slow.end()
  late.after(60n)
  sharedReads.join().after(59n)
  assert.is(reads.length, 103)
})

test('pages have a size without events of ours, too, and together they take 32 MiB at most: then a slow follower reads again', async () => {
  const { reads, sharedReads, pass } = newScene()
  const [fast, slow] = [sharedReads.join(), sharedReads.join()]
  slow.after(0n)
  await pass(fast, 3_000)
  await pass(slow, 3_000)
  const again = reads.length - 3_001
  assert.ok(again >= 900 && again < 1_000, `${again} pages were read again`)
})

test('pages are dropped when some of their events may have been erased', async () => {
  const { reads, sharedReads } = newScene()
  const [first, second] = [sharedReads.join(), sharedReads.join()]
  const look = first.after(5n)
  reads[0]!.answer(9n)
  await look.page
  sharedReads.forget()
  second.after(5n)
  assert.is(reads.length, 2)
})

test.run()
