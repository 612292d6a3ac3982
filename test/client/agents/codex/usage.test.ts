import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  answer,
  call,
  item,
  line,
  meta,
  output,
  prompt,
  reader,
  tokenCount,
  usageRecord,
  uuidAt,
} from '../../support/codex-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('what the answers of a Codex session have used (rule 16)')
const { path, remove } = tempFolder()
test.after(remove)
const { messages } = reader(path)

/** The input tokens and the id of what each message has used. */
const usages = async (...lines: string[]) =>
  (await messages(...lines)).flatMap(({ externalId, usage }) =>
    usage ? [`${externalId} ${usage.inputTokens} ${usage.responseId ?? '-'}`] : [],
  )

test('a record is of the last message of its answer, and its input is without what was cached', async () => {
  const found = await messages(
    meta('s-1'),
    prompt('go', { id: 'm-1' }),
    answer('look', { id: 'm-2' }),
    call({ id: 'm-3' }),
    usageRecord('r-1', 10, 7),
    output('done', { id: 'm-4' }),
  )
  assert.equal(
    found.map(({ usage }) => usage),
    [
      undefined,
      undefined,
      { inputTokens: 6, outputTokens: 7, cacheReadTokens: 4, reasoningTokens: 1, responseId: 'r-1' },
      undefined,
    ],
  )
})

test('a count is of the answer before it, unless it repeats the totals, is zero, or records tell the same', async () => {
  assert.equal(
    await usages(
      meta('s-1'),
      tokenCount(99, 9, 100),
      prompt('go', { id: 'm-1' }),
      call({ id: 'm-2' }),
      output('done', { id: 'm-3' }),
      tokenCount(10, 7, 117),
      tokenCount(10, 7, 117),
      answer('one', { id: 'm-4' }),
      tokenCount(10, 7, 117),
      tokenCount(11, 8, 136),
      answer('two', { id: 'm-5' }),
      usageRecord('r-5', 12, 9),
      tokenCount(12, 9, 157),
      answer('three', { id: 'm-6' }),
      tokenCount(13, 9, 179),
    ),
    ['m-2 6 -', 'm-4 7 -', 'm-5 8 r-5'],
  )
})

test('what a compaction has used is that of its message', async () => {
  const summary = JSON.parse(answer('all of it', { id: 'm-3' })) as object
  assert.equal(
    await usages(
      meta('s-1'),
      prompt('go', { id: 'm-1' }),
      answer('one', { id: 'm-2' }),
      usageRecord('r-2', 10, 7),
      JSON.stringify({ ...summary, metadata: { compaction_output: true } }),
      usageRecord('r-3', 11, 8),
      line('compacted', { id: 'm-4', message: 'all of it' }),
      answer('two', { id: 'm-5' }),
      usageRecord('r-5', 12, 8),
    ),
    ['m-2 6 r-2', 'm-4 7 r-3', 'm-5 8 r-5'],
  )
})

test('a fork does not count what its parent has used', async () => {
  const forked = uuidAt('2026-02-01T10:00:00.000Z')
  const earlier = uuidAt('2026-02-01T09:00:00.000Z')
  assert.equal(
    await usages(
      meta(forked, { forked_from_id: 's-1' }),
      line('turn_context', { turn_id: earlier, model: 'gpt-5.5' }),
      item({
        type: 'message',
        id: 'p-1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'of the parent' }],
      }),
      tokenCount(10, 7, 117),
      line('turn_context', { turn_id: forked, model: 'gpt-5.5' }),
      prompt('own', { id: 'm-1' }),
      tokenCount(10, 7, 117),
      answer('one', { id: 'm-2' }),
      tokenCount(11, 8, 136),
    ),
    ['m-2 7 -'],
  )
})

test.run()
