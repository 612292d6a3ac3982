import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hashesOfMessages, newHasher } from '../../../projections/search/hash-messages.ts'
import { newHashMessages } from '../../../projections/search/hashing.ts'
import type { MessageRow } from '../../../src/server/trace/tokens/stored-rows.ts'

const test = suite('hashing messages on a thread')

const key = Buffer.alloc(32, 7)

const messageOf = (text: string): MessageRow => ({
  ...{ ordinal: 0, external_id: 'm', role: 'user', is_of_user: true, has_text: true, tools: '[]', model: null },
  ...{ facts: null, changed: null, part_count: 0, parts: null, timestamp: 1, created_at: 1n },
  text_content: JSON.stringify(text),
})

const wordsFrom = (first: number) => Array.from({ length: 3_000 }, (_, i) => `word${first + i}`).join(' ')

test('a large message of many different words is hashed while the event loop does other work', async () => {
  const rows = [messageOf(wordsFrom(0)), messageOf('few words'), messageOf(wordsFrom(5_000))]
  let turns = 0
  const counting = setInterval(() => (turns += 1), 0)
  const hashes = await newHashMessages(key)(rows)
  clearInterval(counting)
  assert.ok(turns > 1, `${turns} turns`)
  assert.equal(hashes, hashesOfMessages(newHasher(key), rows))
  assert.ok(hashes[0]!.length > 2_000)
})

test('what the thread cannot take is hashed on the event loop, where other work has turns in between', async () => {
  let turns = 0
  const counting = setInterval(() => (turns += 1), 0)
  const seen: number[] = []
  const rows = Array.from({ length: 100 }, (_, i) => ({
    uncloneable: () => {}, // no thread can be sent this
    ...messageOf(''),
    get text_content() {
      seen.push(turns)
      return JSON.stringify(wordsFrom(i * 3_000))
    },
  }))
  const hashes = await newHashMessages(key)(rows)
  clearInterval(counting)
  assert.is(hashes.length, 100)
  assert.ok(seen.at(-1)! > seen[100]! + 3, `from the turn ${seen[100]} to ${seen.at(-1)}`)
})

test('another key makes other hashes, on the thread too', async () => {
  const rows = [messageOf(wordsFrom(0))]
  const [one] = await newHashMessages(key)(rows)
  const [other] = await newHashMessages(Buffer.alloc(32, 8))(rows)
  assert.is(new Set(one).intersection(new Set(other)).size, 0)
})

test.run()
