import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { onServer } from '../../support/database.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { connectionsOf, listen, openSlowReader } from '../../support/slow-reader.ts'
import { until } from '../../support/until.ts'

const test = suite('trace: long lists')

// A summary would change the revision of a trace while it is being read.
const { database, node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const port = await listen(node)

const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string, token: string, body?: object) => {
  const answer = await node.call(method, url, { token, body })
  assert.is(answer.status, 200, `${method} ${url}: ${JSON.stringify(answer.error)}`)
  return answer.data as object
}

type Listed = { externalId: string; textContent: string; parts?: { content: { text: string } }[] }
type Answer = { messages: Listed[]; nextCursor?: string }

const COUNT = 300
const KiB = 1024

/** A message of about 50 KiB, half of it a part, with a place of its own in the order of the list. */
const messageOf = (i: number, mark: string) => ({
  externalId: `m${i}`,
  role: 'user',
  ...(i % 3 ? { order: (i * 7) % 11 } : {}),
  ...(i % 2 ? { timestamp: (i * 5) % 13 } : {}),
  textContent: `${mark} ${'x'.repeat(25 * KiB)}`,
  parts: [{ type: 'text', content: { text: `${mark} ${'y'.repeat(25 * KiB)}` } }],
})

const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
const sortKey = (value: number | undefined) => value ?? Infinity
const expectedOrder = Array.from({ length: COUNT }, (_, i) => messageOf(i, ''))
  .map(({ order, timestamp, externalId }, i) => ({
    order: sortKey(order),
    timestamp: sortKey(timestamp),
    i,
    externalId,
  }))
  .sort((a, b) => compare(a.order, b.order) || compare(a.timestamp, b.timestamp) || a.i - b.i)
  .map(({ externalId }) => externalId)

const write = async (token: string, url: string, numbers: readonly number[], mark: string) => {
  for (let at = 0; at < numbers.length; at += 200) {
    const messages = numbers.slice(at, at + 200).map((i) => messageOf(i, mark))
    await send('POST', `${url}/messages/batch`, token, { messages })
  }
}

const { token, namespaceSlug } = await signIn(node)
const url = `/v1/traces/${randomUUID()}`
await send('PUT', url, token, {})
const numbers = Array.from({ length: COUNT }, (_, i) => i)
await write(token, url, numbers, 'first')

const list = async (query = ''): Promise<Answer> =>
  (await node.call('GET', `${url}/messages${query}`, { token })).data as Answer

const marksOf = ({ textContent, parts }: Listed) => [
  textContent.split(' ')[0],
  ...(parts ?? []).map(({ content }) => content.text.split(' ')[0]),
]

/** Our sessions of the database that hold a snapshot, or a transaction. */
const holding = async () => {
  const { rows } = await onServer(
    database.url,
    `select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and (backend_xmin is not null or xact_start is not null)`,
  )
  return rows.length
}

test('show all messages in their order, with or without parts', async () => {
  for (const query of ['', '?includeParts=true']) {
    const { messages, nextCursor } = await list(query)
    assert.equal(
      messages.map(({ externalId }) => externalId),
      expectedOrder,
    )
    assert.is(nextCursor, undefined)
    assert.ok(messages.every((message) => marksOf(message).length === (query ? 2 : 1)))
    assert.ok(messages.flatMap(marksOf).every((mark) => mark === 'first'))
  }
})

test('continue after a cursor', async () => {
  const seen: string[] = []
  let query = '?limit=120&includeParts=true'
  for (;;) {
    const { messages, nextCursor } = await list(query)
    seen.push(...messages.map(({ externalId }) => externalId))
    if (nextCursor === undefined) break
    query = `?limit=120&includeParts=true&cursor=${nextCursor}`
  }
  assert.equal(seen, expectedOrder)
  const { nextCursor } = await list('?limit=10')
  const rest = await list(`?cursor=${nextCursor}`)
  assert.equal(
    rest.messages.map(({ externalId }) => externalId),
    expectedOrder.slice(10),
  )
})

const SIZED = [
  ['messages', `${url}/messages?includeParts=true`],
  ['traces', `/v1/namespaces/${namespaceSlug}/traces`],
] as const

const title = '\0'.repeat(4_096)
const traceIds = Array.from({ length: 400 }, () => randomUUID())
for (let at = 0; at < traceIds.length; at += 50) {
  const some = traceIds.slice(at, at + 50)
  await Promise.all(some.map((id) => send('PUT', `/v1/traces/${id}`, token, { title })))
}

for (const [name, path] of SIZED) {
  test(`of ${name} hold no snapshot while their reader takes nothing`, async () => {
    const reader = await openSlowReader(port, path, token)
    await until(async () => (await holding()) === 0)
    assert.is(await connectionsOf(node), 1)
    const { text, isWhole } = await reader.rest()
    assert.ok(isWhole)
    assert.is(JSON.parse(text).ok, true)
  })
}

test('of traces show a trace that exists all the time once, and leave out deleted ones', async () => {
  const own = await signIn(node)
  const ids = Array.from({ length: 400 }, () => randomUUID())
  for (let at = 0; at < ids.length; at += 50)
    await Promise.all(ids.slice(at, at + 50).map((id) => send('PUT', `/v1/traces/${id}`, own.token, { title })))
  const reader = await openSlowReader(port, `/v1/namespaces/${own.namespaceSlug}/traces`, own.token)
  const deleted = ids.slice(0, 40) // the oldest, which come last
  await Promise.all(deleted.map((id) => send('DELETE', `/v1/traces/${id}`, own.token)))
  await send('PUT', `/v1/traces/${randomUUID()}`, own.token, {})
  const { text, isWhole } = await reader.rest()
  assert.ok(isWhole)
  const { traces } = JSON.parse(text).data as { traces: { externalId: string; createdAt: number }[] }
  assert.equal(traces.map(({ externalId }) => externalId).sort(), ids.slice(40).sort())
  assert.ok(traces.every(({ createdAt }, i) => i === 0 || createdAt <= traces[i - 1]!.createdAt))
})

test('leave out messages that are added meanwhile', async () => {
  const before = await list()
  const reader = await openSlowReader(port, `${url}/messages`, token)
  await write(token, url, [COUNT, COUNT + 1], 'added')
  const { text, isWhole } = await reader.rest()
  assert.ok(isWhole)
  assert.equal(JSON.parse(text).data, before)
})

test('never show half of a change: they are as at their begin, or are broken off', async () => {
  const counts = { whole: 0, broken: 0 }
  for (let round = 0; round < 8; round++) {
    const before = await list('?includeParts=true')
    const reader = await openSlowReader(port, `${url}/messages?includeParts=true`, token)
    await reader.take(round * 1_500 * KiB)
    // A batch over the first and the last of the list: there and back in some rounds.
    const [first, last] = [expectedOrder[round], expectedOrder.at(-1 - round)].map((id) => Number(id!.slice(1)))
    const batch = round < 2 ? [first!] : [first!, last!]
    await write(token, url, batch, `round-${round}`)
    if (round % 2) await write(token, url, batch, before.messages.flatMap(marksOf)[0]!)
    const { text, isWhole } = await reader.rest()
    counts[isWhole ? 'whole' : 'broken'] += 1
    if (isWhole) assert.equal(JSON.parse(text).data, before)
  }
  assert.ok(counts.whole > 0 && counts.broken > 0, JSON.stringify(counts))
})

test.run()
