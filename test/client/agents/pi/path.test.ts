import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { pi } from '../../../../src/client/agents/pi/index.ts'
import { assertGrowth } from '../../support/growth.ts'
import { assistant, call, entry, header, reader, result, text, user } from '../../support/pi-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('the path of a pi session')
const { path, remove } = tempFolder()
test.after(remove)
const { ids, messages, read, trace } = reader(path)

type EntryIds = readonly [string | undefined, string | null | undefined]

const tree = [
  header(),
  entry('a', null, user('root')),
  entry('b', 'a', assistant([text('old answer')], { model: 'old' })),
  entry('c', 'b', user('old question')),
  entry('d', 'c', assistant([text('old end')], { model: 'old' })),
  entry('e', 'a', { type: 'branch_summary', summary: 'What was tried' }),
  entry('f', 'e', assistant([text('new answer')], { model: 'new' })),
]

test('the conversation is the path from the last entry to the root (rule 2)', async () => {
  assert.equal(await ids(...tree.slice(0, 5)), ['a', 'b', 'c', 'd'])
  assert.equal(await ids(...tree), ['a', 'e', 'f'])
  const { model, title } = await trace(...tree)
  assert.equal([model, title], ['new', 'root'])
})

test('the first prompt is taken from the path, not from an abandoned branch', async () => {
  const lines = [header(), entry('a', null, user('abandoned')), entry('b', null, user('kept'))]
  assert.equal(await ids(...lines), ['b'])
  assert.is((await trace(...lines)).title, 'kept')
})

test('an entry of any type, even an unknown one, can be the last entry or a parent (rule 2)', async () => {
  const more = [
    entry('g', 'd', { type: 'label', targetId: 'a', label: 'x' }),
    entry('h', 'g', { type: 'new' }),
    entry('i', 'h', user('after')),
  ]
  assert.equal(await ids(...tree, more[0]!), ['a', 'b', 'c', 'd'])
  assert.equal(await ids(...tree, ...more), ['a', 'b', 'c', 'd', 'i'])
})

test('a message has the same id and order on every path', async () => {
  const before = await messages(...tree.slice(0, 5))
  const after = await messages(...tree)
  assert.equal(after[0], before[0])
  assert.equal(
    after.map(({ order }) => order),
    [2, 6, 7],
  )
})

test('entries without parents follow each other, because files of version 1 have no ids (rule 2)', async () => {
  const lines = [
    header({ version: undefined }),
    ...[user('same'), assistant([text('x')]), user('same')].map((fields) => entry(undefined, undefined, fields)),
  ]
  const found = await ids(...lines)
  assert.is(new Set(found).size, 3)
  assert.is(found[2], `${found[0]}-2`)
  for (const id of found) assert.match(id, /^line-/)
})

/** A file of version 1 as the agent writes it anew when it opens it: with ids, and no index in compactions. */
const converted = (lines: readonly string[]): readonly string[] => {
  const idOf = (index: number) => index.toString(16).padStart(8, '0')
  return lines.map((line, index) => {
    const { firstKeptEntryIndex: kept, ...known } = JSON.parse(line) as Record<string, unknown>
    if (index === 0) return JSON.stringify({ ...known, version: 3 })
    const keptId = typeof kept === 'number' ? idOf(kept) : undefined
    const ids = { id: idOf(index), parentId: index === 1 ? null : idOf(index - 1), firstKeptEntryId: keptId }
    return JSON.stringify({ ...known, ...ids })
  })
}

test('messages keep their ids when the agent converts a file of version 1, also in what it appends (rule 8)', async () => {
  const bare = (fields: object) => entry(undefined, undefined, { ...fields })
  const old = [
    header({ version: undefined }),
    ...[user('same'), assistant([call({ id: undefined })]), user('same'), user('"id":"x","parentId":"y"}')].map(bare),
    bare({ type: 'compaction', summary: 'So far', firstKeptEntryIndex: 3, tokensBefore: 70 }),
    bare(user('after')),
  ]
  const before = await messages(...old)
  assert.is(before.length, 6)
  assert.equal(await messages(...converted(old)), before)
  const added = [entry('0000000a', '00000006', user('new')), entry('0000000b', '0000000a', user('same'))]
  assert.equal(await ids(...converted(old), ...added), [
    ...before.map(({ externalId }) => externalId),
    '0000000a',
    '0000000b',
  ])
})

test('an entry that was never without an id keeps it, also where the id stands last (rule 8)', async () => {
  const last = JSON.stringify({ type: 'message', timestamp: 't', ...user('x'), id: 'a', parentId: null })
  assert.equal(await ids(header(), last), ['a'])
})

test('an entry whose parent is missing, for example in a damaged line, follows the previous entry (rule 2)', async () => {
  const { messages, malformed } = await read(
    header(),
    entry('a', null, user('1')),
    '{"type":"message","id":"b","parentId":"a"',
    entry('c', 'b', user('3')),
    entry('d', 'c', user('4')),
  )
  assert.equal(
    messages.map(({ externalId }) => externalId),
    ['a', 'c', 'd'],
  )
  assert.equal(malformed, [3])
  assert.equal(await ids(header(), entry('x', 'of the parent session', user('1'))), ['x'])
})

test('a parent that comes later, or is the entry itself, does not cause an endless loop (rule 2)', async () => {
  assert.equal(await ids(entry('a', 'b', user('1')), entry('b', 'a', user('2')), entry('c', 'c', user('3'))), [
    'a',
    'b',
    'c',
  ])
})

test('a repeated entry is skipped, but the path ends at it if it is the last one (rule 2)', async () => {
  const [a, b, c] = [entry('a', null, user('1')), entry('b', 'a', user('2')), entry('c', 'a', user('3'))] as const
  assert.equal(await ids(header(), a, b, entry('a', null, user('again')), c), ['a', 'c'])
  assert.equal(await ids(header(), a, c, b, c), ['a', 'c'])
})

test('a second header is not an entry (rule 1)', async () => {
  const { session, messages } = await read(
    header(),
    entry('a', null, user('1')),
    header({ id: 's-2', cwd: '/w/other' }),
    entry('b', 'a', user('2')),
  )
  assert.is(messages.length, 2)
  assert.equal([session.externalId, session.trace.projectPath], ['s-1', '/w/app'])
})

test('messages keep their ids and their order when the session grows', async () => {
  const forms = [
    (index: number): EntryIds => [`e-${index}`, index === 0 ? null : `e-${index - 1}`],
    (): EntryIds => [undefined, undefined],
  ]
  const entries = [
    user('same'),
    assistant([{ type: 'thinking', thinking: 'ä🙂\u2028' }, text('x'), call({}), call({ id: undefined })]),
    result({}),
    { type: 'compaction', summary: 'sum' },
    user('same'),
    { type: 'model_change', modelId: 'x' },
    assistant([], { stopReason: 'aborted' }),
  ]
  for (const [number, idsOf] of forms.entries()) {
    const lines = [header(), ...entries.map((fields, index) => entry(...idsOf(index), fields)), 'no JSON', '']
    await assertGrowth(pi, join(path, `time_grown-${number}.jsonl`), lines.join('\n'))
  }
})

test.run()
