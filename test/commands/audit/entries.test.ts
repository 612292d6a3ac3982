import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { localTime } from '../../../src/cli/time-text.ts'
import { newEntryReader } from '../../../src/commands/audit/entries.ts'
import { entryLine } from '../../../src/commands/audit/log.ts'
import type { TimelineEntry } from '../../../src/client/api/history.ts'

const test = suite('the lines of tracebook audit log')

const entryAt = (revision: number, more: Partial<TimelineEntry> = {}): TimelineEntry => ({
  revision,
  type: 'TraceUpdated',
  at: 1_767_366_245_123,
  text: 'Ada changed the title',
  ...more,
})

/** A timeline that grows, in pages of two. */
const newTimeline = () => {
  const all: TimelineEntry[] = []
  const read = async (cursor?: string) => {
    const start = Number(cursor ?? 0)
    const isLast = start + 2 >= all.length
    return { events: all.slice(start, start + 2), ...(isLast ? {} : { nextCursor: String(start + 2) }) }
  }
  return { all, read }
}

test('each entry is read once, however the pages end', async () => {
  const { all, read } = newTimeline()
  const entries = newEntryReader(read)
  const news = async () => (await Array.fromAsync(entries())).map(({ revision }) => revision)
  const came: number[][] = []
  for (const count of [0, 1, 0, 1, 1, 4, 0, 3]) {
    for (let i = 0; i < count; i++) all.push(entryAt(all.length))
    came.push(await news())
  }
  assert.equal(came, [[], [0], [], [1], [2], [3, 4, 5, 6], [], [7, 8, 9]])
})

test('if a timeline has lost its end, later entries are read and the loss is reported', async () => {
  const { all, read } = newTimeline()
  let losses = 0
  const entries = newEntryReader(read, () => (losses += 1))
  const news = async () => (await Array.fromAsync(entries())).map(({ at }) => at)
  const happen = (...times: number[]) => all.push(...times.map((at) => entryAt(all.length, { at })))
  happen(1, 2, 3, 4, 5, 6, 7)
  assert.is((await news()).length, 7)
  all.length = 3
  assert.equal([await news(), losses], [[], 1])
  happen(8)
  assert.equal([await news(), await news(), losses], [[8], [], 1])
  happen(9, 10)
  assert.equal([await news(), losses], [[9, 10], 1])
  all.length = 1
  happen(11)
  assert.equal([await news(), losses], [[11], 2])
})

test('entries of two traces with the same revision are two', async () => {
  const { all, read } = newTimeline()
  for (const id of ['a', 'b']) all.push(entryAt(0, { trace: { id, externalId: 't' } }))
  assert.is((await Array.fromAsync(newEntryReader(read)())).length, 2)
})

test('a deletion is read once, also when a later deletion of the same trace mentions it again', async () => {
  const { all, read } = newTimeline()
  const entries = newEntryReader(read)
  const deletion = (revision: number, at: number) =>
    entryAt(revision, { type: 'TraceDeleted', trace: { id: 'a', externalId: 't' }, at, createdAt: at - 1 })
  const news = async () => (await Array.fromAsync(entries())).map(({ revision, at }) => [revision, at])
  all.push(entryAt(0), deletion(1, 10))
  assert.equal(await news(), [[0, entryAt(0).at], [1, 10]]) // prettier-ignore
  all.splice(1, 1)
  for (let i = 2; i < 8; i++) all.push(entryAt(i))
  all.push(deletion(8, 10), deletion(8, 20), deletion(8, 30))
  assert.equal(
    (await news()).slice(-3),
    [[7, entryAt(7).at], [8, 20], [8, 30]], // prettier-ignore
  )
})

test('a time is shown as ISO 8601 with the zone of the machine, and an invalid one unchanged', () => {
  const ms = 1_767_366_245_123
  assert.is(Date.parse(localTime(ms)), ms)
  assert.match(localTime(ms), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.123[+-]\d\d:\d\d$/)
  assert.is(localTime(1e300), '1e+300')
})

test('a line is cut to the columns of a terminal only, with its columns kept by wide names', () => {
  const actor = { userId: 'u', displayName: '山田太郎山田太郎山田太郎 \u001b[2J' }
  const entry = entryAt(12, { actor, trace: { id: 'i', externalId: 'x'.repeat(50) } })
  const free = entryLine(entry, true, undefined)
  assert.match(free, / {2} {3}@12 {2}山田太郎山田太郎山田太郎 \\u001b\[2J {2}x{50} {2}Ada changed the title$/)
  assert.match(entryLine(entry, true, 200), / {3}@12 {2}山田太郎山田太… {3}x{35}… {2}Ada changed the title$/)
  assert.match(entryLine(entry, true, 30), /…$/)
  assert.match(entryLine(entryAt(1), true, undefined), / {2}Tracebook {9}- {37}Ada changed/)
})

test('on a narrow terminal the sentence of an entry can be seen', () => {
  const entry = entryAt(12, { actor: { userId: 'u'.repeat(36) }, trace: { id: 'i', externalId: '0192f0c1-aaaa' } })
  assert.match(entryLine(entry, true, 60), /^\S+.* {2}@12 {2}0192f0c1 {2}Ada changed the title$/)
  assert.match(entryLine(entry, false, 60), /^\S+.* {2}@12 {2}Ada changed the title$/)
  assert.match(entryLine(entryAt(1), true, 60), / {2}@1 {2}- {9}Ada changed/)
  assert.ok(entryLine(entry, true, 44).length <= 44)
})

test.run()
