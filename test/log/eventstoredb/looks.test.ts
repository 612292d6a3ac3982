import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newLooks } from '../../../src/log/eventstoredb/looks.ts'
import type { Batch } from '../../../src/log/eventstoredb/reader.ts'

/** Looks whose reads are answered by hand. */
const newScene = () => {
  const reads: { after: bigint; signal: AbortSignal; answer: (through: bigint) => void; fail: () => void }[] = []
  let version = 0
  const read = (after: bigint, signal: AbortSignal) =>
    new Promise<Batch>((resolve, reject) => {
      const answer = (through: bigint) => resolve({ events: [], through, isLast: true })
      reads.push({ after, signal, answer, fail: () => reject(new Error('away')) })
    })
  return { reads, looks: newLooks(() => version, read), wake: () => void (version += 1) }
}

test('followers at one place share a read, under way or done, with the version that it has seen', async () => {
  const { reads, looks, wake } = newScene()
  const first = looks.at(5n)
  wake()
  const second = looks.at(5n)
  reads[0]!.answer(9n)
  assert.equal([(await first.page)?.through, (await second.page)?.through], [9n, 9n])
  const third = looks.at(5n)
  assert.equal([first.seen, second.seen, third.seen, reads.length], [0, 0, 0, 1])
  assert.is(looks.at(9n).seen, 1)
})

test('a read that found nothing, or failed, is shared by nobody who comes later', async () => {
  const { reads, looks } = newScene()
  const empty = looks.at(5n)
  reads[0]!.answer(5n)
  await empty.page
  const failed = looks.at(5n)
  reads[1]!.fail()
  assert.is(await failed.page, undefined)
  looks.at(5n)
  assert.is(reads.length, 3)
})

test('the last follower to leave ends the read, and each leaves once', () => {
  const { reads, looks } = newScene()
  const [first, second] = [looks.at(5n), looks.at(5n)]
  first.leave()
  first.leave()
  assert.not(reads[0]!.signal.aborted)
  second.leave()
  assert.ok(reads[0]!.signal.aborted)
  looks.at(5n)
  assert.is(reads.length, 2)
})

test('nothing is kept of what may have been erased', async () => {
  const { reads, looks } = newScene()
  const look = looks.at(5n)
  reads[0]!.answer(9n)
  await look.page
  looks.forget()
  looks.at(5n)
  assert.is(reads.length, 2)
})

test.run()
