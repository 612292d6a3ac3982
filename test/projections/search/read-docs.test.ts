import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newDocReader } from '../../../projections/search/read-docs.ts'
import { newId } from '../../../src/base/ids.ts'
import type { ReadRows } from '../../../src/engine/projection.ts'

const test = suite('projections/search: reading')

test('other work has its turns while a message of many different words is hashed', async () => {
  const text = Array.from({ length: 1_000 }, (_, i) => `${String.fromCharCode(97 + (i % 26))}word${i}`).join(' ')
  const traceId = newId()
  const row = {
    trace_id: traceId,
    ordinal: 0,
    external_id: 'm',
    role: 'user',
    tools: '[]',
    model: null,
    facts: null,
    changed: null,
    size: 1_000,
  }
  const message = { ...row, text_content: JSON.stringify(text), parts: null, timestamp: 1, created_at: 1n }
  let turns = 0
  const waiting = setInterval(() => (turns += 1), 0)
  const slowHash = (token: string) => {
    for (const until = performance.now() + 0.1; performance.now() < until;);
    return token.length
  }
  const { docsOf } = newDocReader((async () => [message]) as unknown as ReadRows, slowHash)
  const docs = await docsOf([{ traceId, ordinal: 0, seq: 1n }], new Map([[traceId, { incarnation: 1n } as never]]))
  clearInterval(waiting)
  assert.is(docs.length, 1)
  assert.ok(turns >= 5, `${turns} turns`)
})

test.run()
