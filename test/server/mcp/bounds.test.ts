import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { pi } from '../../../src/client/agents/pi/index.ts'
import { readSession } from '../../client/support/read-session.ts'
import { sharedData } from '../../client/support/shared-data.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { type ToolResult, callTool, part, putTrace, text, toolCall, toolResult, untilFound } from './support.ts'

const test = suite('bounds of answers for agents')
const { node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const owner = await signIn(node)
const { token } = owner

const READ = 40_000
const OTHERS = 12_000
/** What a client that cuts answers shows in any case. */
const FIRST = 2_000

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** The quotations and the other values of an answer, asserted to be the same in both of its forms, each within its bound. */
const assertBounded = (what: string, { isError, content, structuredContent }: ToolResult, most: number) => {
  assert.not.ok(isError, `${what}: ${JSON.stringify(content).slice(0, 300)}`)
  const links = content.slice(1)
  assert.ok(links.length <= 10 && links.every(({ type }) => type === 'resource_link'), `${what}: links`)
  const sizes = { text: bytes(content), structured: bytes(structuredContent) + bytes(links) }
  assert.ok(Math.max(sizes.text, sizes.structured) <= most, `${what}: ${JSON.stringify(sizes)}`)
  const { answer, leftOut, quotes, ...values } = structuredContent as Record<string, unknown>
  const whole = content[0]!.text!
  const first = Buffer.from(whole).subarray(0, FIRST).toString()
  const sentences = [answer, ...(leftOut as string[]).map((one) => `Left out: ${one}`)]
  const head = `${sentences.join('\n')}\n${JSON.stringify(values)}\n`
  assert.is(whole.slice(0, head.length), head, what)
  assert.equal(JSON.parse(whole.slice(head.length)), quotes, what)
  assert.ok(first.startsWith(head) && head.length < FIRST / 2, `${what}: what was left out is in the beginning`)
  assert.ok(!('nextCursor' in values) || sentences.join('\n').includes(String(values['nextCursor'])), what)
  assert.is(whole.split('"quoted":true').length, 2, `${what}: said once`)
  return { quotes: quotes as Record<string, unknown>, nextCursor: values['nextCursor'] as string | undefined }
}

const ask = async (name: string, args: object, most = OTHERS) =>
  assertBounded(`${name} ${JSON.stringify(args).slice(0, 100)}`, await callTool(node, token, name, args), most)

type Message = { message: string; parts: { part: number; text: string }[] }

/** Asks each tool about a session. */
const askAll = async (session: string, externalIds: readonly string[], word: string) => {
  const { files } = (await ask('files_of', { session })).quotes as { files: { path?: string; edits: number }[] }
  const mostEdited = files.toSorted((a, b) => b.edits - a.edits)[0]
  if (mostEdited?.path !== undefined) await ask('files_of', { session, path: mostEdited.path })
  await ask('get_session', { session })
  await ask('get_session', { session, fromPrompt: 2 })
  await ask('list_sessions', {})
  await ask('search_sessions', { query: word })
  for (const limit of [1, 10, 40])
    for (const i of [0, 0.5, 0.9])
      await ask('read_messages', { session, message: externalIds[Math.floor(i * externalIds.length)], limit }, READ)
}

/** Reads all messages of a session. */
const readAll = async (session: string, externalIds: readonly string[]) => {
  const read: string[] = []
  let cursor: string | undefined
  do {
    const page = await ask('read_messages', { session, limit: 40, ...(cursor ? { cursor } : {}) }, READ)
    read.push(...(page.quotes['messages'] as Message[]).map(({ message }) => message))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  assert.equal(read, externalIds, 'fewer messages are followed by the others')
}

const code = (lines: number, seed: number) =>
  Array.from({ length: lines }, (_, i) => `\tconst value${seed + i} = "größer" + '\\n' // 値 ${i * seed}`).join('\n')

const LONG_ID = '-0123456789abcdef'.repeat(6)

/** A session of the size of the largest recorded ones: 300 messages of up to 8 parts, with 1.6 MB of them. */
const large = Array.from({ length: 300 }, (_, i) => {
  const externalId = `message-${i}${i % 50 === 0 ? LONG_ID : ''}`
  const timestamp = Date.parse('2026-11-26T10:00:00Z') + i * 1_000
  if (i % 20 === 0)
    return { externalId, role: 'user', timestamp, parts: [text(`Prompt ${i}: mend the thing. ${code(12, i)}`)] }
  if (i % 2 === 0) {
    const parts = Array.from({ length: 3 }, (_, k) =>
      toolResult(`${i - 1}-${k}`, 'Edit', code(20, i), i % 14 === 0 ? 'error' : 'success'),
    )
    return { externalId, role: 'user', timestamp, parts }
  }
  const calls = Array.from({ length: 3 }, (_, k) =>
    toolCall(`${i}-${k}`, 'Edit', {
      file_path: `src/some/rather/deep/folder/of-the-project/file-number-${(i * 3 + k) % 140}.ts`,
      old_string: code(20, i + k),
      new_string: code(24, i + k + 1),
    }),
  )
  const parts = [part('thinking', { text: code(20, i) }), text(`Answer ${i}`), ...calls]
  return { externalId, role: 'assistant', timestamp, parts }
})

test('each tool keeps its bound on a generated session as large as those of people', async () => {
  assert.ok(bytes(large) > 1_600_000, String(bytes(large)))
  for (let i = 0; i < 30; i++)
    await putTrace(
      owner,
      `other-${i}${LONG_ID}`,
      { title: `${i}: ${'A rather long title about "quotes", 値 and others. '.repeat(8)}`, gitBranch: `branch-${i}` },
      large.slice(0, 3),
    )
  await putTrace(owner, 'large', { title: 'The large one', projectName: 'shop' }, large)
  await untilFound(node, token, 'prompt 280', 1)
  const externalIds = large.map(({ externalId }) => externalId)
  await askAll('large', externalIds, 'prompt')
  await readAll('large', externalIds)
  await ask('list_sessions', { limit: 50 }, READ)
  await ask('search_sessions', { query: 'mend thing', limit: 20 }, READ)
})

test('what is left out of one message with very many parts is named, and can be read', async () => {
  const parts = Array.from({ length: 400 }, (_, i) => text(`${i} ${code(10, i)}`))
  await putTrace(owner, 'many', {}, [
    { externalId: 'first', role: 'user', parts: [text('Say much')] },
    { externalId: 'm', role: 'assistant', parts },
  ])
  const { quotes, nextCursor } = await ask('read_messages', { session: 'many' }, READ)
  assert.equal(
    [(quotes['messages'] as Message[]).map(({ message }) => message), nextCursor === undefined],
    [['first'], false],
  )
  const { content, structuredContent } = await callTool(node, token, 'read_messages', {
    session: 'many',
    message: 'm',
    limit: 1,
  })
  const [shown] = (structuredContent!['quotes'] as { messages: [Message] }).messages
  assert.match(content[0]!.text!, `Left out: ${400 - shown.parts.length} later parts of the message`)
  const last = await ask('read_messages', { session: 'many', message: 'm', part: 399 }, READ)
  assert.match((last.quotes['messages'] as [Message])[0].parts[0]!.text, /^399 /)
})

test('ids of the greatest length keep the bounds, too', async () => {
  const long = (i: number) => `${i}${'"值'.repeat(511)}`
  for (let i = 0; i < 12; i++)
    await putTrace(owner, long(i), { title: `longest ${i}` }, [
      ...Array.from({ length: 45 }, (_, k) => ({ externalId: long(k), role: 'user', parts: [text(`wide ${k}`)] })),
    ])
  await untilFound(node, token, 'longest 11', 1)
  await ask('list_sessions', {})
  await ask('search_sessions', { query: 'longest' })
  await ask('search_sessions', { query: 'wide' })
  await ask('get_session', { session: long(0) })
  await ask('read_messages', { session: long(0), limit: 40 }, READ)
})

const data = sharedData()
if (data !== undefined) {
  const largest = globSync(join(data, 'claude-code', '*.jsonl')).toSorted(
    (a, b) => statSync(b).size - statSync(a).size,
  )[0]!
  const sessions = [
    ['Claude Code', largest, claudeCode],
    ['pi', join(data, 'agents', 'pi', 'pi-mono', 'before-compaction.jsonl'), pi],
  ] as const
  for (const [name, file, agent] of sessions)
    test(`each tool keeps its bound on the largest recorded session of ${name}`, async () => {
      const { session, messages } = await readSession(file, agent)
      await owner.newTrace({ agentId: 'claude-code', title: `Recorded ${name}` }, messages, name)
      assert.ok(readFileSync(file).length > 1_600_000 && session !== undefined)
      await untilFound(node, token, `recorded "${name}"`, 1)
      await askAll(
        name,
        messages.map(({ externalId }) => externalId),
        'file',
      )
    })
}

test.run()
