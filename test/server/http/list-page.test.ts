import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'

const test = suite('answers bounded in bytes')
const { node } = await openWorld(test)

const PAGE = 8 * 1024 * 1024
/** 24 KiB as JSON: there is no longer title. */
const title = '\u0001'.repeat(4_096)
const TRACES = 380

const { token, namespaceSlug: slug, ask, newTrace } = await signIn(node)
const names = Array.from({ length: TRACES }, (_, i) => `trace ${i}`)
for (const [i, name] of names.entries())
  await newTrace({ title, visibility: i % 10 === 0 ? 'private' : 'public' }, [], name)

/** All answers of a list, each going on where the one before said. */
const pagesOf = async (url: string, reader?: string) => {
  const pages: { bytes: number; names: string[] }[] = []
  let next: string | undefined
  do {
    const cursor = next === undefined ? '' : `&cursor=${next}`
    const answer = await callerOf(node, reader).get(`${url}?limit=1000${cursor}`)
    assert.is(answer.statusCode, 200)
    const { data } = answer.json()
    const entries = (data.traces ?? data.messages) as { externalId: string }[]
    pages.push({ bytes: answer.rawPayload.length, names: entries.map(({ externalId }) => externalId) })
    next = data.nextCursor
  } while (next !== undefined)
  return pages
}

const assertWalked = (pages: Awaited<ReturnType<typeof pagesOf>>, wanted: readonly string[]) => {
  assert.ok(pages.length > 1)
  for (const { bytes } of pages) assert.ok(bytes < PAGE + 1_000, `${bytes}`)
  assert.ok(pages[0]!.bytes > PAGE - 100_000, 'it holds what fits')
  assert.equal(
    pages.flatMap((page) => page.names),
    wanted,
  )
}

const newestFirst = [...names].reverse()
const everybodys = newestFirst.filter((name) => Number(name.slice(6)) % 10 !== 0)

test('a feed with long titles continues at a cursor', async () => {
  assertWalked(await pagesOf('/v1/feed'), everybodys)
  assertWalked(await pagesOf('/v1/feed', token), newestFirst)
})

test('a list of traces with long titles continues at a cursor, too', async () => {
  assertWalked(await pagesOf('/v1/traces', token), newestFirst)
  assertWalked(await pagesOf(`/v1/namespaces/${slug}/traces`, token), newestFirst)
  assertWalked(await pagesOf(`/v1/namespaces/${slug}/traces`), everybodys)
})

test('a member without a limit gets all traces', async () => {
  const { data } = await ask('GET', `/v1/namespaces/${slug}/traces`)
  assert.is((data as { traces: unknown[] }).traces.length, TRACES)
})

test('a page of long messages continues, too, and a message longer than a page is alone on one', async () => {
  const lengths = [1_000_000, 10_000_000, 3_000_000, 3_000_000, 3_000_000, 9_000_000, 10]
  for (const [i, length] of lengths.entries())
    await ask('POST', '/v1/traces/trace%201/messages/batch', {
      messages: [{ externalId: `m${i}`, role: 'user', order: i, textContent: 'x'.repeat(length) }],
    })
  const pages = await pagesOf('/v1/traces/trace%201/messages')
  assert.equal(
    pages.map((page) => page.names),
    [['m0'], ['m1'], ['m2', 'm3'], ['m4'], ['m5'], ['m6']],
  )
  const all = await ask('GET', '/v1/traces/trace%201/messages')
  assert.is((all.data as { messages: unknown[] }).messages.length, lengths.length)
})

test.run()
