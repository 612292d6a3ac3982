import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { usedBytes } from '../../../../src/client/agents/claude-code/used-bytes.ts'
import { parseObject } from '../../../../src/client/agents/support/json.ts'
import { readSession } from '../../support/read-session.ts'
import { sharedData } from '../../support/shared-data.ts'
import { userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'
import { runs } from '../../../support/runs.ts'

const test = suite('parsing only the used bytes of a Claude Code line')
const { path, remove } = tempFolder()
test.after(remove)

type Fields = Readonly<Record<string, unknown>>

const start = { parentUuid: 'u-0', isSidechain: false, cwd: '/w/app', sessionId: 's-1', gitBranch: 'main' }
const end = { uuid: 'u-1', timestamp: '2026-02-01T10:00:00.000Z' }
const message = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't-1', content: 'ok' }] }
const user = { ...start, type: 'user', message, ...end }
const toolUseResult = { stdout: 'ok', file: { content: 'a "quoted" \\ text', lines: [1, 2] } }
const progress = { ...start, type: 'progress', data: { type: 'hook_progress', uuid: 'u-2' }, toolUseID: 't-1', ...end }

const parse = (text: string) => usedBytes.parse(Buffer.from(text))?.json

/** What a line is for a session: all of it, but for what is known to be of no use. */
const usedOf = (json: Fields | undefined): Fields | undefined => {
  const unused = {
    toolUseResult: 0,
    sourceToolAssistantUUID: 0,
    toolUseID: 0,
    parentToolUseID: 0,
    parentUuid: 0,
    data: 0,
  }
  return json && { ...json, ...unused, ...(json['type'] === 'progress' ? { message: 0, timestamp: 0 } : {}) }
}
const isShort = (text: string): boolean => (usedBytes.parse(Buffer.from(text))?.text.length ?? 0) < text.length

const assertSame = (text: string) => assert.equal(usedOf(parse(text)), usedOf(parseObject(text)))

test('lines in the form that the CLI writes are parsed without toolUseResult and without the data of progress', () => {
  for (const line of [
    { ...user, toolUseResult },
    { ...user, toolUseResult: 'Error: no', sourceToolAssistantUUID: 'a-1' },
    progress,
    { ...start, type: 'progress', data: { message: user }, parentToolUseID: 't-1', timestamp: '', uuid: 'u-1' },
  ]) {
    const text = JSON.stringify(line)
    assertSame(text)
    assert.is(isShort(text), !text.includes('"data":{"message"'), text) // which holds another line
  }
})

test('a line is parsed whole if members after toolUseResult matter, or if the names found are not its own members', () => {
  const call = { type: 'tool_use', name: 'x', input: { a: 1, toolUseResult: { b: 2 }, c: 3 } }
  const { message: _, ...withoutMessage } = user
  const { uuid: __, ...withoutId } = user
  for (const line of [
    { ...user, toolUseResult, isMeta: true },
    { ...user, toolUseResult, isCompactSummary: true },
    { ...withoutMessage, toolUseResult, message },
    { ...withoutId, toolUseResult },
    { ...user, message: { role: 'user', content: [call, { type: 'text', text: ',"toolUseResult":' }] } },
    { ...user, message: { role: 'user', content: [{ type: 'text', text: ',"type":"progress","data":{}' }] } },
    { ...user, meta: { a: 1, type: 'progress', data: {} }, message: { role: 'user', content: 'hello' } },
    { ...start, type: 'assistant', message: { id: 'm-1', content: [call] }, toolUseResult, ...end },
  ]) {
    const text = JSON.stringify(line)
    assert.equal(parse(text), line, text)
  }
})

test('a line that contains another line, or is truncated, is malformed', () => {
  const [one, other] = [JSON.stringify({ ...user, toolUseResult }), JSON.stringify(user)]
  for (const text of [
    `${one}${other}`,
    `${JSON.stringify(progress)}${other}`,
    `${one.slice(0, -20)}${other}`,
    `${JSON.stringify(progress).slice(0, -80)}${other}`,
    one.slice(0, -3),
    one.slice(0, one.indexOf('"toolUseResult"') + 16),
  ])
    assert.is(parse(text), undefined, text)
})

const values = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(',"toolUseResult":{}}', '"isMeta":', user, progress, { a: 1, toolUseResult, uuid: 'u-3' }),
)
const members = fc.record(
  {
    toolUseResult: values,
    data: values,
    isMeta: fc.boolean(),
    isCompactSummary: fc.boolean(),
    sourceToolAssistantUUID: fc.constant('a-1'),
    toolUseID: fc.constant('t-1'),
    uuid: fc.constantFrom<unknown>('u-1', 7),
    timestamp: fc.constant(end.timestamp),
    sessionId: fc.constant('s-1'),
    parentUuid: fc.constant(null),
    isSidechain: fc.boolean(),
    cwd: fc.constant('/w/app'),
    gitBranch: fc.constant('main'),
    type: fc.constantFrom('user', 'progress', 'assistant'),
    message: fc.record({ role: fc.constant('user'), content: values }),
  },
  { requiredKeys: ['type', 'sessionId'] },
)

test('for any members in any order, the used members are the same as in the whole line', () =>
  fc.assert(
    fc.property(
      members.chain((fields) => fc.shuffledSubarray(Object.entries(fields), { minLength: Object.keys(fields).length })),
      (entries) => assertSame(JSON.stringify(Object.fromEntries(entries))),
    ),
    { numRuns: runs(1_000) },
  ))

const huge = 'x"\\'.repeat(8 << 20)

test('the message in a line of 40 MB is read if only unused members are long', async () => {
  const hello = userLine('u-1', 'hello')
  const lines = [
    JSON.stringify({ ...user, uuid: 'u-2', toolUseResult: { huge } }),
    JSON.stringify({ ...progress, uuid: 'u-3', data: { huge } }),
    JSON.stringify({ ...user, uuid: 'u-4', toolUseResult: { huge }, isMeta: true }),
    JSON.stringify({ ...user, uuid: 'u-5', message: { role: 'user', content: huge } }),
    `${JSON.stringify({ ...user, uuid: 'u-6', toolUseResult: { huge } }).slice(0, -9)}${hello}`,
  ]
  const { messages, malformed } = await readSession(
    writeSession(path, 's-1.jsonl', [hello, ...lines, userLine('u-7', 'on')]),
  )
  assert.equal(
    messages.map(({ externalId, order }) => [externalId, order]),
    [
      ['u-1', 1],
      ['u-2', 2],
      ['u-7', 7],
    ],
  )
  assert.equal(malformed, [4, 5, 6])
})

const data = sharedData()
for (const file of data ? globSync('{claude-code,agents/claude}/**/*.jsonl', { cwd: data }) : [])
  test(`all used members of each line in ${file} are read`, () => {
    for (const line of readFileSync(join(data!, file), 'utf8').split('\n')) if (line.trim()) assertSame(line)
  })

test.run()
