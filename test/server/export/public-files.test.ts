import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type FileVersion, newPublicFiles } from '../../../src/server/export/public-files.ts'

const test = suite('export: the cache of files of public traces')

const shown = (more: Partial<FileVersion> = {}): FileVersion => ({
  traceId: 'a',
  incarnation: 0n,
  revision: 7n,
  trace: '{"title":"T"}',
  format: 'html',
  ...more,
})

const MiB = 1024 * 1024

/** Makes and completes a file of `length` characters. */
const make = (files: ReturnType<typeof newPublicFiles>, what: FileVersion, length = 10, position = 10n) => {
  const draft = files.begin(what, position)
  for (let made = 0; made < length; made += 1_000) draft.add('x'.repeat(Math.min(1_000, length - made)))
  draft.keep()
}

test('a cached file is used only if everything that it depends on is equal', () => {
  const files = newPublicFiles(() => true)
  make(files, shown(), 200_000)
  assert.is(files.get(shown())?.join('').length, 200_000)
  for (const other of [
    { traceId: 'b' },
    { incarnation: 1n },
    { revision: 8n },
    { trace: '{}' },
    { format: 'md' as const },
  ])
    assert.is(files.get(shown(other)), undefined)
})

test('an event of a trace removes its files, and no others', () => {
  const files = newPublicFiles(() => true)
  make(files, shown())
  make(files, shown({ traceId: 'b' }))
  files.observe({ position: 11n, topics: ['a', 'public traces'] })
  assert.is(files.get(shown()), undefined)
  assert.ok(files.get(shown({ traceId: 'b' })))
  files.clear()
  assert.is(files.get(shown({ traceId: 'b' })), undefined)
})

test('a file is not cached if its trace changed while it was made, or if that is not known', () => {
  let isCurrent = true
  const files = newPublicFiles(() => isCurrent)
  const draft = files.begin(shown(), 10n)
  draft.add('x')
  files.observe({ position: 11n, topics: ['a'] })
  draft.keep()
  assert.is(files.get(shown()), undefined)
  make(files, shown(), 10, 10n) // read from a snapshot that does not show the event yet
  assert.is(files.get(shown()), undefined)
  make(files, shown(), 10, 11n)
  assert.ok(files.get(shown()))
  isCurrent = false
  assert.is(files.get(shown()), undefined)
  make(files, shown({ traceId: 'b' }), 10, 11n)
  isCurrent = true
  assert.is(files.get(shown({ traceId: 'b' })), undefined)
})

test('a file is not cached if it was not completed, or if the cache was cleared while it was made', () => {
  const files = newPublicFiles(() => true)
  for (const end of [() => files.clear(), (draft: { drop(): void }) => draft.drop()]) {
    const draft = files.begin(shown(), 10n)
    draft.add('x')
    end(draft)
    draft.add('y')
    draft.keep()
    assert.is(files.get(shown()), undefined)
  }
})

test('the memory for one file, for files that are being made, and for all cached files is bounded', () => {
  const files = newPublicFiles(() => true)
  make(files, shown({ traceId: 'large' }), 5 * MiB)
  assert.is(files.get(shown({ traceId: 'large' })), undefined)

  const begin = (traceId: string) => {
    const draft = files.begin(shown({ traceId }), 10n)
    for (let made = 0; made < 3 * MiB; made += 1_000) draft.add('x'.repeat(1_000))
    return draft
  }
  const [slowest, slow] = [begin('slowest'), begin('slow')]
  make(files, shown({ traceId: 'fast' }), 3 * MiB)
  for (const draft of [slowest, slow]) draft.keep()
  assert.equal(
    ['slowest', 'slow', 'fast'].map((traceId) => files.get(shown({ traceId })) !== undefined),
    [false, true, true],
  )

  for (let i = 0; i < 20; i++) make(files, shown({ traceId: String(i) }), 3 * MiB)
  const found = Array.from({ length: 20 }, (_, i) => files.get(shown({ traceId: String(i) })) !== undefined)
  assert.is(found.filter(Boolean).length, 5)
  assert.ok(found.at(-1))
})

test.run()
