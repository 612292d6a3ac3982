import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { openHistory } from './support.ts'

const test = suite('history: events stored in chunks')

const double = await startDouble()
const url = new URL(double.url)
url.searchParams.set('maxAppendBytes', '700')
const { user } = await openHistory(test, { EVENTSTORE_URL: url.href })
const { send } = user
test.after(double.stop)

test('every revision within an append belongs to it, also that of a chunk of its first event', async () => {
  const trace = `/v1/traces/${randomUUID()}`
  const titles = ['a'.repeat(2_000), 'b'.repeat(2_000)]
  const ends: number[] = []
  const put = async (title: string) => {
    await send('PUT', trace, { title })
    ends.push((await send<{ revision: number }>('GET', `${trace}/messages?limit=0`)).revision)
  }
  for (const title of titles) await put(title)
  const messages = [
    { externalId: 'm1', role: 'user', textContent: 'x'.repeat(3_000) },
    { externalId: 'm2', role: 'user', textContent: 'y' },
  ]
  await send('POST', `${trace}/messages/batch`, { messages })
  ends.push((await send<{ revision: number }>('GET', `${trace}/messages?limit=0`)).revision)
  assert.ok(ends[0]! > 0 && ends[1]! > ends[0]! + 1 && ends[2]! > ends[1]! + 4, ends.join())

  for (let revision = 0; revision <= ends[2]!; revision++) {
    const append = ends.findIndex((end) => revision <= end)
    const shown = await send<{ trace: { title: string; messageCount: number }; revision: number }>(
      'GET',
      `${trace}?revision=${revision}`,
    )
    const { title, messageCount } = shown.trace
    const expected = [ends[append], titles[Math.min(append, 1)]![0], append === 2 ? 2 : 0]
    assert.equal([shown.revision, title[0], messageCount], expected, `revision ${revision}`)
  }
})

test.run()
