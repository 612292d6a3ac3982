import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type KeptShape, type ListedMessage, ShapeBuilder, bySortKeys } from '../../../src/server/trace/kept-shape.ts'
import { factsIn } from '../../../src/server/trace/messages/facts.ts'
import { ShapeSoFar } from '../../../src/server/trace/shape.ts'

const test = suite('trace/kept-shape')

const facts = ['t', 'ca', 'ca,1,2,f1', 'cb', 'cb,3,4,f2', 'ra', 'fa', 'rb', 'fb', 'e']
const place = fc.constantFrom(0, 1, 2, 3, Infinity)

/** Messages of a trace as they arrive, most of them in the order of the list. */
const arrivals = fc
  .array(
    fc.record({
      late: fc.oneof({ weight: 99, arbitrary: fc.constant(undefined) }, place),
      isOfUser: fc.boolean(),
      words: fc.array(fc.constantFrom(...facts), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 200, size: 'max' },
  )
  .map((all) =>
    all.map(({ late, isOfUser, words }, ordinal): ListedMessage => ({
      sequence: late ?? ordinal,
      timestamp: Infinity,
      ordinal,
      isOfUser,
      hasText: false,
      facts: factsIn(words),
      tools: words.filter((word) => word.startsWith('c')),
      slot: 0,
    })),
  )

const atOnce = (messages: readonly ListedMessage[]) => {
  const shape = new ShapeSoFar()
  for (const message of messages.toSorted(bySortKeys)) shape.add(message)
  return shape.shape()
}

const walked = (kept: KeptShape | undefined, messages: readonly ListedMessage[]) => {
  const rest = messages.filter(({ ordinal }) => ordinal >= (kept?.upTo ?? 0)).toSorted(bySortKeys)
  const builder = new ShapeBuilder(kept)
  if (!builder.comesAfter(rest[0]!)) return undefined
  builder.add(rest)
  return builder.end()
}

test('the shape is that of all messages, and the kept shape depends only on them, not on their batches', () => {
  let kept = 0
  fc.assert(
    fc.property(arrivals, fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 9 }), (messages, cuts) => {
      let last: ReturnType<typeof walked>
      let end = 0
      for (const cut of [...cuts, messages.length]) {
        end = Math.min(end + cut, messages.length)
        const some = messages.slice(0, end)
        last = walked(last?.kept, some) ?? walked(undefined, some)
      }
      assert.equal(last!.shape, atOnce(messages))
      assert.equal(last, walked(undefined, messages))
      if (last!.kept) kept += 1
    }),
  )
  console.error('KEPT', kept)
  assert.ok(kept > 10)
})

test('of a large trace all but the last few messages need not be read again', () => {
  const message = (ordinal: number): ListedMessage => ({
    ...{ sequence: ordinal, timestamp: Infinity, ordinal },
    ...{ isOfUser: false, hasText: false, facts: factsIn(['ca']), tools: ['a'], slot: 0 },
  })
  const messages = Array.from({ length: 1_000 }, (_, i) => message(i))
  const { kept } = walked(undefined, messages)!
  assert.is(kept!.upTo, 960)
  assert.is(walked(kept, [...messages, message(1_000)])!.shape.calls, 1_001)
  assert.is(walked(kept, [...messages, { ...message(1_000), sequence: 7.5 }]), undefined)
  assert.is(walked(undefined, messages.slice(0, 63))!.kept, undefined)
  assert.is(walked(undefined, messages.slice(0, 64))!.kept!.upTo, 32)
})

test('places without numbers come last', () => {
  const at = (sequence: number, timestamp: number, ordinal: number) => ({ sequence, timestamp, ordinal })
  const sorted = [at(-1, 5, 9), at(0, 1, 8), at(0, Infinity, 2), at(Infinity, 3, 7), at(Infinity, Infinity, 0), at(Infinity, Infinity, 1)] // prettier-ignore
  assert.equal(sorted.toReversed().sort(bySortKeys), sorted)
})

test.run()
