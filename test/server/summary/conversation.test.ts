import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inBlock } from '../../../src/tables/main.ts'
import { readConversation, turnsStatement } from '../../../src/server/summary/conversation.ts'
import { type StoredTurn, parseConversation } from '../../../src/server/summary/turns.ts'
import { mostRows, openFilled, pagesOf } from '../../support/filled-read-models.ts'

const test = suite('the part of a session that is read for its summary')
const models = await openFilled()
test.after(() => models.close())
// Plans are kept: that of an empty table has to do for a full one.
const turnsOf = await models.prepare(turnsStatement)
await turnsOf([randomUUID()])

const KB = 1024
const MOST_BYTES = 4 * 1024 * KB

type Given = {
  readonly role?: 'user' | 'assistant'
  readonly class?: 'user_message' | 'agent_text' | 'tool_call'
  readonly text?: string
  readonly parts?: readonly (string | { readonly type: string; readonly text: string })[]
  readonly tools?: readonly string[]
}

const asks = (text: string): Given => ({ text })
const says = (text: string): Given => ({ role: 'assistant', class: 'agent_text', text })
const calls = (...tools: string[]): Given => ({ role: 'assistant', class: 'tool_call', tools })

const add = async (trace: string, ordinal: number, given: Given) => {
  const { role = 'user', class: kind = 'user_message', text, parts = [], tools = [] } = given
  const { heads, bodies } = stored(parts)
  // No two messages of a trace have one revision: with the same in all of them the index of revisions would be so small that
  // the planner may take it for the primary key's work.
  await models.rows(
    `insert into messages (trace_id, incarnation, ordinal, id, external_id, role, text_content, class, tools, parts_head, part_count,
       parts_length, created_at, updated_at, added, revision, block, heads_at, parts_at, parts_end)
     values ($1, 0, $2::int4, gen_random_uuid(), 'm', $3, $4, $5, $6, '-', $7, 0, 0, 0, $2::int4, $2::int4, $2::int4, 0, $8, $9)`,
    [
      ...[trace, ordinal, role, text === undefined ? null : JSON.stringify(text), kind, JSON.stringify(tools)],
      ...[parts.length, Buffer.byteLength(heads), Buffer.byteLength(heads + bodies)],
    ],
  )
  await models.rows('insert into message_blocks values ($1, 0, $2::int4, $2::int4, $3)', [
    trace,
    ordinal,
    Buffer.from(heads + bodies),
  ])
}

/** Parts as a block holds them. */
const stored = (parts: NonNullable<Given['parts']>) => {
  let end = -1
  const all = parts.map((part, position) => {
    const { type, text } = typeof part === 'string' ? { type: 'text', text: part } : part
    const body = JSON.stringify({ order: position, type, content: { text } })
    end += 1 + Buffer.byteLength(body)
    return {
      head: `${String(end).padStart(inBlock.end)} ${`1 ${type} -`.padEnd(inBlock.head - inBlock.end - 2)}`,
      body,
    }
  })
  return { heads: all.map(({ head }) => head).join(), bodies: all.map(({ body }) => body).join() }
}

const addTrace = async (): Promise<string> => {
  const id = randomUUID()
  await models.addTraces(
    `select '${id}'::uuid as id, '${id}'::uuid as namespace_id, '${id}' as name, 0 as created_at, 'private' as visibility`,
  )
  return id
}

/** What is read of a trace of these messages. */
const read = async (messages: readonly Given[]) => {
  const id = await addTrace()
  for (const [ordinal, message] of messages.entries()) await add(id, ordinal, message)
  const rows = (_name: string, text: string, values: readonly unknown[] = []) => models.rows(text, values)
  const reads = { rows } as unknown as Parameters<typeof readConversation>[0]
  return readConversation(reads, id, messages.length)
}

const bytesOf = ({ text, parts, tools }: StoredTurn) =>
  [text, parts, tools].reduce((sum, one) => sum + Buffer.byteLength(one ?? ''), 0)
const total = (turns: readonly StoredTurn[]) => turns.reduce((sum, turn) => sum + bytesOf(turn), 0)
const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

test('of an ordinary session: its start, its prompts and its end, whole', async () => {
  const paste = 'line of a log '.repeat(2_000)
  const messages = times(60, (i) => (i % 6 === 0 ? asks(`prompt ${i} \0 \ud83d ${paste}`) : calls(`tool_${i}`)))
  messages[1] = { ...says('the first'), parts: ['not read, as there is a text'] }
  messages[50] = { role: 'assistant', class: 'agent_text', parts: ['one', { type: 'thinking', text: 'no' }, 'two'] }
  const { turns } = parseConversation(await read(messages))
  const places = [1, 2, 3, 4, 7, 13, 19, 25, 31, 37, 43, 49, 51, 55, 56, 57, 58, 59, 60]
  assert.equal(
    turns.map(({ place }) => place),
    places,
  )
  for (const turn of turns) {
    const { text = '', class: kind, role = 'user', tools = [] } = messages[turn.place - 1]!
    const expected = turn.place === 51 ? 'one\ntwo' : text
    assert.equal(turn, { place: turn.place, role, class: kind ?? 'user_message', text: expected, tools })
  }
})

test('of a message larger than 256 KiB only the first parts', async () => {
  const long = 'x'.repeat(257 * KB)
  const { turns } = parseConversation(
    await read([
      asks(long),
      { text: long, parts: ['instead of a text that is too long'] },
      { parts: ['a', long, 'b'] },
      { parts: ['a', 'y'.repeat(200 * KB), 'z'.repeat(100 * KB), 'b'] },
    ]),
  )
  const texts = ['', 'instead of a text that is too long', 'a\nb', `a\n${'y'.repeat(200 * KB)}`]
  assert.equal(
    turns.map(({ text }) => text),
    texts,
  )
})

test('of a session of pastes at most 4 MiB, without the longest', async () => {
  const paste = 'p'.repeat(250 * KB)
  const messages = times(120, (i) => (i % 2 ? asks(`prompt ${i}`) : { parts: [paste] }))
  messages[119] = says('Done.')
  const { turns } = await read(messages)
  assert.ok(total(turns) <= MOST_BYTES, `${total(turns)}`)
  assert.ok(total(turns) > MOST_BYTES / 2, `${total(turns)}`)
  for (const turn of parseConversation({ messageCount: 120, turns }).turns) {
    const isEdge = turn.place <= 4 || turn.place > 114
    if (turn.place % 2 === 0) assert.is(turn.text, turn.place === 120 ? 'Done.' : `prompt ${turn.place - 1}`)
    else if (isEdge) assert.is(turn.text, paste, `${turn.place}`)
  }
})

test('texts and parts of the same message are not both read, and tools count, too', async () => {
  const text = 't'.repeat(250 * KB)
  const tools = times(2_000, (i) => `${i}_${'n'.repeat(250)}`)
  const { turns } = await read(times(110, () => ({ text, parts: [text], tools })))
  assert.is(turns.length, 106)
  assert.ok(total(turns) <= MOST_BYTES + 2 * turns.length, `${total(turns)}`)
  for (const { text: read, parts, tools } of turns) {
    assert.is(parts, null)
    assert.ok(read !== null || tools === '[]')
  }
})

test('of a session of 20,000 messages little: each is examined once, and few are read', async () => {
  const [id, count] = [await addTrace(), 20_000]
  const { heads, bodies } = stored(['a'])
  await models.rows(
    `insert into messages (trace_id, incarnation, ordinal, id, external_id, role, class, tools, parts_head, part_count, parts_length,
       created_at, updated_at, added, revision, block, heads_at, parts_at, parts_end)
     select $1::uuid, 0, i, gen_random_uuid(), 'm', 'user', 'user_message', '[]', '-', 1, 0, 0, 0, i, i, i, 0, $2, $3
     from generate_series(1, ${count}) i`,
    [id, heads.length, heads.length + bodies.length],
  )
  await models.rows(`insert into message_blocks select $1::uuid, 0, i, i, $2 from generate_series(1, ${count}) i`, [
    id,
    Buffer.from(heads + bodies),
  ])
  for (const plan of await turnsOf([id])) {
    assert.ok(mostRows(plan) <= count, `${mostRows(plan)} rows`)
    assert.ok(pagesOf(plan) <= 2 * count, `${pagesOf(plan)} pages`)
  }
})

test.run()
