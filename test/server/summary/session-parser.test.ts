import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { extractSummary } from '../../../src/server/summary/extract.ts'
import { newSessionParser } from '../../../src/server/summary/session-parser.ts'
import { type StoredTurn, parseConversation } from '../../../src/server/summary/turns.ts'

const test = suite('the thread that reads sessions')
const thread = newSessionParser(console.error)
test.after(() => thread.close())
const never = new AbortController().signal

const prompt = { role: 'user', class: 'user_message', parts: null, tools: '[]' } as const
const turns = Array.from({ length: 100 }, (_, i): StoredTurn => ({
  ...prompt,
  place: i + 1,
  text: JSON.stringify(`Repair "number" ${i} @src/a/b.ts `.repeat(700)),
}))
const conversation = { messageCount: 100, turns }

test('the event loop goes on while a session is read', async () => {
  let turnsOfTheLoop = 0
  let reading = true
  const count = () => {
    turnsOfTheLoop += 1
    if (reading) setImmediate(count)
  }
  setImmediate(count)
  const summary = await thread.extract(conversation, never)
  reading = false
  assert.equal(summary, extractSummary(parseConversation(conversation)))
  assert.ok(turnsOfTheLoop > 10, `${turnsOfTheLoop}`)
})

test('a prompt fits its limit', async () => {
  assert.ok((await thread.buildPrompt(conversation, 2_000, never)).length <= 2_000)
})

test('an unreadable message is an error, and the next is read', async () => {
  const broken = { ...conversation, turns: [{ ...turns[0]!, text: '"' }] }
  const error = await thread.extract(broken, never).catch((error: Error) => error)
  assert.instance(error, Error)
  assert.is((await thread.extract({ messageCount: 0, turns: [] }, never)).title, undefined)
})

test('a stop does not wait for the thread', async () => {
  const stop = new AbortController()
  const reading = thread.extract(conversation, stop.signal).catch((error: Error) => error.name)
  stop.abort()
  assert.is(await reading, 'AbortError')
})

test.run()
