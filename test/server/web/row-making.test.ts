import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { BrokenOff } from '../../../src/server/http/long-list.ts'
import { headOf } from '../../../src/transcript/head.ts'
import { WHOLE } from '../../../src/transcript/html/row-renderer.ts'
import { type Rows, newRowMaking } from '../../../src/server/web/row-making.ts'
import { type RowInput, type RowsTask, newRowSteps } from '../../../src/server/web/row-steps.ts'
import { type RowTask, newSteps } from '../../../src/server/web/task-steps.ts'

const test = suite('web: rows that are made on a thread')

const making = newRowMaking(console.error)
test.after(() => making.close())

const rejection = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => undefined,
    (error: unknown) => error,
  )

const child = JSON.stringify({ externalId: 'child', title: 'A sub-agent', parentCallId: 'call', messageCount: 2 })
const task: RowsTask = {
  is: 'rows',
  ...{
    slug: 'acme',
    externalId: 'session',
    agentId: 'codex',
    children: [child],
    continuations: [],
    range: WHOLE,
    view: 'full',
    here: undefined,
  },
  ...{ author: 'Ada', folder: undefined, model: { id: undefined, name: undefined } },
}
const viewer = { user: undefined, isKnown: true, theme: undefined, hasKeys: true, path: '/' }
const client = { id: 'user:1', net: 'net:1' }

const messageOf = (i: number, length: number) =>
  JSON.stringify({
    ...{ externalId: `m-${i}`, role: i % 2 === 0 ? 'user' : 'assistant', timestamp: 1_770_000_000_000 + i },
    parts: [
      { type: 'text', content: { text: `Text ${i} <b> ${'word '.repeat(length)}` } },
      { type: 'tool_call', content: { callId: 'call', toolName: 'Task', args: { description: 'Look' } } },
      { type: 'tool_result', content: { callId: 'call', toolName: 'Task', output: 'Seen.', status: 'success' } },
      { type: 'tool_call', content: { callId: 'edit', toolName: 'Write', args: { file_path: 'a.ts', content: 'x' } } },
      { type: 'tool_result', content: { callId: 'edit', toolName: 'Write', output: 'Written.', status: 'success' } },
    ],
  })
const works = (count: number, length = 10): RowInput[] => [
  {
    is: 'messages',
    texts: Array.from({ length: count }, (_, i) => messageOf(i, length)),
    ids: Array.from({ length: count }, (_, i) => `m-${i}`),
  },
  { is: 'endOfMessages' },
  { is: 'endOfOutline', unlisted: 3 },
]

const made = async (rows: Rows, all: readonly RowInput[]): Promise<string[]> => {
  const texts: string[] = []
  for (const work of all) for await (const text of rows.make(work)) texts.push(text)
  return texts
}

/** What the same steps give here. */
const expected = (all: readonly RowInput[]): string => {
  const steps = newRowSteps(task)
  return all.flatMap((work) => [...steps(work)]).join('')
}

test('rows made on the thread equal those of the same steps here, for many readers at once', async () => {
  const sessions = [1, 7, 60].map((count) => ({ all: works(count), rows: making.open(task, client) }))
  const results = await Promise.all(sessions.map(({ rows, all }) => made(rows, all)))
  for (const [i, { all, rows }] of sessions.entries()) {
    assert.is(results[i]!.join(''), expected(all))
    rows.close()
  }
  assert.match(results[0]!.join(''), 'href="/@acme/child"')
})

test('changed rows, single messages and changes of files are made there, too', async () => {
  const changes = [{ id: 'm-3', place: 3, isNew: false }]
  const page = { slug: 'acme', externalId: 'session', head: headOf(new Map()), project: undefined, viewer }
  const all: readonly (readonly [RowTask, string])[] = [
    [{ ...task, is: 'changedRows', view: 'full', changes }, 'id="m-3"'],
    [{ ...task, is: 'message', id: 'm-3' }, 'id="m-3"'],
    [{ is: 'changes', page }, '<code dir="auto">a<wbr>.ts</code>'],
  ]
  for (const [one, part] of all) {
    const rows = making.open(one, client)
    const work = works(7).slice(0, 2)
    const steps = newSteps(one)
    const text = (await made(rows, work)).join('')
    assert.is(text, work.flatMap((next) => [...steps(next)]).join(''))
    assert.match(text, part)
    rows.close()
  }
})

test('rows come in pieces, of which the first is short', async () => {
  const rows = making.open(task, client)
  const lengths = (await made(rows, works(60, 2_000))).map(({ length }) => length)
  assert.ok(lengths[0]! >= 8 * 1024 && lengths[0]! < 32 * 1024, `the first one has ${lengths[0]}`)
  assert.ok(lengths.length > 5 && lengths.every((length) => length < 100_000), lengths.join(' '))
  rows.close()
})

test('a reader does not wait for the first rows of all pages that another has asked for before', async () => {
  const [greedy, other] = ['greedy', 'other'].map((name) => ({ id: `user:${name}`, net: 'net:1' }))
  const answered: object[] = []
  const open = async (reader: typeof client) => {
    const rows = making.open(task, reader)
    await rows.make(works(60, 500)[0]!).next()
    answered.push(reader)
    rows.close()
  }
  await Promise.all([...Array.from({ length: 60 }, () => open(greedy!)), open(other!)])
  const before = answered.indexOf(other!)
  assert.ok(before < 30, `${before} of 60 came before`)
})

test('rows are no longer made after their reader has left', async () => {
  const rows = making.open(task, client)
  const reading = rows.make(works(60, 2_000)[0]!)
  await reading.next()
  const waiting = reading.next()
  rows.close()
  assert.instance(await rejection(waiting), BrokenOff)
  assert.instance(await rejection(made(rows, works(1))), BrokenOff)
})

test('rows that cannot be made do not stop the rows of others', async () => {
  const [rows, others] = [making.open(task, client), making.open(task, client)]
  const failing = rejection(made(rows, [{ is: 'messages', texts: [undefined as never], ids: ['m-0'] }]))
  assert.is((await made(others, works(3))).join(''), expected(works(3)))
  assert.instance(await failing, Error)
  for (const one of [rows, others]) one.close()
})

test('rows are made by another thread after one has ended', async () => {
  const failures: Error[] = []
  const ending = newRowMaking((error) => failures.push(error))
  const rows = ending.open(task, client)
  const reading = rows.make(works(60, 2_000)[0]!)
  await reading.next()
  const failing = rejection(reading.next())
  await ending.close()
  assert.instance(await failing, Unavailable)
  assert.instance(await rejection(made(rows, works(1))), Unavailable)
  const next = ending.open(task, client)
  assert.is((await made(next, works(2))).join(''), expected(works(2)))
  assert.equal(failures, [], 'it was ended by its service')
  await ending.close()
})

test.run()
