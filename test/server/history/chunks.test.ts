import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { openApp } from '../../support/open-app.ts'
import { dataOf, newAsk, okText, signIn } from './support.ts'

const test = suite('history: events stored in chunks')

const [database, double] = [await freshDatabase(), await startDouble()]
const url = new URL(double.url)
url.searchParams.set('maxAppendBytes', '700')
const node = await openApp(database.url, { env: { SUMMARY_PROVIDER: 'none', EVENTSTORE_URL: url.href } })
const ask = newAsk(node, (await signIn(node)).token)
test.after(async () => {
  await node.close()
  await double.stop()
  await database.drop()
})

test('every revision within an append belongs to it, also that of a chunk of its first event', async () => {
  const trace = `/v1/traces/${randomUUID()}`
  const titles = ['a'.repeat(2_000), 'b'.repeat(2_000)]
  const ends: number[] = []
  const put = async (title: string) => {
    await okText(ask('PUT', trace, JSON.stringify({ title })))
    ends.push((await dataOf<{ revision: number }>(ask('GET', `${trace}/messages?limit=0`))).revision)
  }
  for (const title of titles) await put(title)
  const messages = [
    { externalId: 'm1', role: 'user', textContent: 'x'.repeat(3_000) },
    { externalId: 'm2', role: 'user', textContent: 'y' },
  ]
  await okText(ask('POST', `${trace}/messages/batch`, JSON.stringify({ messages })))
  ends.push((await dataOf<{ revision: number }>(ask('GET', `${trace}/messages?limit=0`))).revision)
  assert.ok(ends[0]! > 0 && ends[1]! > ends[0]! + 1 && ends[2]! > ends[1]! + 4, ends.join())

  for (let revision = 0; revision <= ends[2]!; revision++) {
    const append = ends.findIndex((end) => revision <= end)
    const shown = await dataOf<{ trace: { title: string; messageCount: number }; revision: number }>(
      ask('GET', `${trace}?revision=${revision}`),
    )
    const { title, messageCount } = shown.trace
    const expected = [ends[append], titles[Math.min(append, 1)]![0], append === 2 ? 2 : 0]
    assert.equal([shown.revision, title[0], messageCount], expected, `revision ${revision}`)
  }
})

test.run()
