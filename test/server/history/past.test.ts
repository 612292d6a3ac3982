import fc from 'fast-check'
import jsonpatch from 'fast-json-patch'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { summarise } from '../../../src/server/trace/decide-summary.ts'
import type { MessageUpsert } from '../../../src/server/trace/messages/message.ts'
import { upsert } from '../trace/arbitraries.ts'
import { bodyOf } from '../../support/world.ts'
import { batchBody, openHistory } from './support.ts'
import { runs } from '../../support/runs.ts'

const test = suite('history: the past')

const { node, user } = await openHistory(test)
const { ask, send, get } = user
const textAt = (url: string) => bodyOf(get(url))

type Step =
  | { readonly do: 'patch'; readonly body: object }
  | { readonly do: 'write'; readonly upserts: readonly MessageUpsert[] }
  | { readonly do: 'summarise'; readonly title: string | undefined }
  | { readonly do: 'recreate' }
  | { readonly do: 'erase' }
  | { readonly do: 'both'; readonly upserts: readonly MessageUpsert[]; readonly others: readonly MessageUpsert[] }

const odd = fc.constantFrom('', 'plain', 'a\0b', '\ud800', '🙂', '2', '__proto__')
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const fields = fc.record(
  { title: odd, model: odd, gitBranch: odd, visibility: fc.constantFrom('private', 'public', 'direct') },
  { requiredKeys: [] },
)
const upserts = fc.array(upsert, { minLength: 1, maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('patch' as const), body: fields }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('write' as const), upserts }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('both' as const), upserts, others: upserts }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('summarise' as const), title: optional(odd) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('recreate' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const) }) },
)

const { traces, write } = node.service

const newTrace = async () => {
  const { url, ...trace } = await user.newTrace({ title: 'first' })
  const batch = (some: readonly MessageUpsert[]) => {
    const headers = { ...user.headers, 'content-type': 'application/json' }
    return bodyOf(node.app.inject({ method: 'POST', url: `${url}/messages/batch`, headers, payload: batchBody(some) }))
  }

  /** Gives the revision with which the trace has begun another life, or without a past; undefined if it has not. */
  const take = async (wanted: Step): Promise<number | undefined> => {
    if (wanted.do === 'patch') await send('PATCH', url, wanted.body)
    if (wanted.do === 'write') await batch(wanted.upserts)
    // Requests that come together may share an append.
    if (wanted.do === 'both')
      await Promise.all([batch(wanted.upserts), send('PATCH', url, { title: 'both' }), batch(wanted.others)])
    if (wanted.do === 'summarise') {
      const given = { title: wanted.title, summary: 'what it came to', messageCount: 1, deletions, since }
      await write(traces, trace.id, { decide: summarise(given, 0) }, {})
    }
    if (wanted.do === 'erase') return erase()
    if (wanted.do !== 'recreate') return undefined
    await send('DELETE', url)
    deletions += 1
    since = undefined
    await send('PUT', url, { title: 'again' })
    return (await present()).revision
  }
  let deletions = 0
  let since: number | undefined

  /** Shows the same as before, but for the summary. */
  const erase = async () => {
    const before = await present()
    const { revision, erased } = await send<{ revision: number; erased: number }>('POST', `${url}/history/erase`)
    const after = await present()
    if (erased > 0) since = revision - listOf(after).length
    const { ai_title: _, ai_summary: _s, summaryMessageCount: _c, ...trace } = traceIn(before)
    assert.equal([traceIn(after), after.withParts.replace(/"revision":\d+/, ''), after.revision], [erased > 0 ? trace : traceIn(before), before.withParts.replace(/"revision":\d+/, ''), revision]) // prettier-ignore
    return revision
  }

  /** What the API answers now. */
  const present = async () => {
    const detail = await textAt(url)
    const withParts = await textAt(`${url}/messages?includeParts=true`)
    const messages = await textAt(`${url}/messages`)
    const { events } = await send<{ events: { revision: number; at: number }[] }>(
      'GET',
      `${url}/events?order=desc&limit=1`,
    )
    const { revision, at } = events[0]!
    return { detail, withParts, messages, revision, at }
  }
  return { url, take, present }
}

type Snapshot = Awaited<ReturnType<Awaited<ReturnType<typeof newTrace>>['present']>>

/** The same with the revision beside the trace. */
const detailWith = ({ detail, revision }: Pick<Snapshot, 'detail' | 'revision'>) =>
  `${detail.slice(0, -'}}'.length)},"revision":${revision}}}`

const past = async (url: string, moment: string) => ({
  detail: await textAt(`${url}?${moment}`),
  withParts: await textAt(`${url}/messages?includeParts=true&${moment}`),
  messages: await textAt(`${url}/messages?${moment}`),
})

const pages = async (url: string, limit: number) => {
  const all: string[] = []
  for (let cursor = ''; ;) {
    const { messages, nextCursor } = await send<{ messages: { externalId: string }[]; nextCursor?: string }>(
      'GET',
      `${url}&limit=${limit}${cursor}`,
    )
    all.push(...messages.map(({ externalId }) => externalId))
    if (nextCursor === undefined) return all
    cursor = `&cursor=${nextCursor}`
  }
}

const shown = ({ detail, withParts, messages }: Snapshot | Awaited<ReturnType<typeof past>>) => [
  detail,
  withParts,
  messages,
]

const traceIn = ({ detail }: Pick<Snapshot, 'detail'>) =>
  (JSON.parse(detail) as { data: { trace: Record<string, unknown> } }).data.trace

type Message = { externalId: string; parts: { order?: number }[] } & Record<string, unknown>
const listOf = ({ withParts }: Pick<Snapshot, 'withParts'>) =>
  (JSON.parse(withParts) as { data: { messages: Message[] } }).data.messages

const without = (object: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

/** The documents of a difference, as its reader knows them. */
const traceDocument = ({ detail }: Pick<Snapshot, 'detail'>) => {
  return without(traceIn({ detail }), [
    ...['id', 'externalId', 'createdAt', 'updatedAt', 'startedAt', 'endedAt', 'namespace', 'createdBy'],
    ...['messageCount', 'summaryMessageCount', 'messageTypeCounts', 'toolTypeCounts', 'shape', 'usage', 'cost'],
  ])
}
const messageDocument = ({ parts, ...fields }: Message) => ({
  ...without(fields, ['id', 'externalId', 'createdAt', 'updatedAt']),
  parts: parts.map((part) => without(part, ['order'])),
})
const patched = <T>(document: T, patch: unknown): T =>
  jsonpatch.applyPatch(structuredClone(document), patch as never, true, true, false).newDocument as T

type Difference = {
  patch: unknown
  messages: { added: string[]; updated: { externalId: string; patch: unknown[] }[] }
}

const checkDifference = async (url: string, before: Snapshot, after: Snapshot) => {
  const query = `from=${before.revision}&to=${after.revision}`
  const { patch, messages } = await send<Difference>('GET', `${url}/diff?${query}`)
  assert.equal(patched(traceDocument(before), patch), traceDocument(after))
  const [then, now] = [before, after].map((one) => new Map(listOf(one).map((message) => [message.externalId, message])))
  assert.equal(new Set(messages.added), new Set([...now!.keys()].filter((externalId) => !then!.has(externalId))))
  const patches = new Map(messages.updated.map((one) => [one.externalId, one.patch]))
  for (const [externalId, message] of then!) {
    const document = messageDocument(now!.get(externalId)!)
    assert.equal(patched(messageDocument(message), patches.get(externalId) ?? []), document)
    if (patches.has(externalId)) assert.not.equal(messageDocument(message), document)
  }
}

test('every revision shows what the API answered then, byte by byte, and a difference turns one into the other', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    const { url, take, present } = await newTrace()
    let snapshots = [await present()]
    let first = 0
    for (const wanted of steps) {
      const begun = await take(wanted)
      if (begun !== undefined) {
        first = begun
        snapshots = []
      }
      snapshots.push(await present())
    }
    const known = new Map(snapshots.map((one) => [one.revision, one]))
    for (const snapshot of known.values()) {
      const expected = { ...snapshot, detail: detailWith(snapshot) }
      assert.equal(shown(await past(url, `revision=${snapshot.revision}`)), shown(expected))
    }
    const last = snapshots.at(-1)!
    for (let revision = first; revision <= last.revision; revision++) {
      const found = await past(url, `revision=${revision}`)
      const end = (JSON.parse(found.detail) as { data: { revision: number } }).data.revision
      assert.ok(end >= revision)
      const snapshot = known.get(end)
      if (snapshot) assert.equal(shown(found), shown({ ...snapshot, detail: detailWith(snapshot) }))
    }
    assert.is((await ask('GET', `${url}?revision=${last.revision + 1}`)).status, 404)
    if (first > 0) assert.is((await ask('GET', `${url}?revision=${first - 1}`)).status, 404)
    const any = snapshots[Math.floor(snapshots.length / 2)]!
    assert.equal(
      await pages(`${url}/messages?revision=${any.revision}`, 2),
      listOf(any).map(({ externalId }) => externalId),
    )
    for (const before of [snapshots[0]!, any]) await checkDifference(url, before, last)
  })
  await fc.assert(property, { numRuns: runs(6) })
})

test('a time shows the last append that is not later', async () => {
  const { url, take, present } = await newTrace()
  const snapshots = [await present()]
  for (let i = 0; i < 4; i++) {
    await take({ do: 'patch', body: { title: `title ${i}` } })
    snapshots.push(await present())
  }
  for (const { at } of snapshots) {
    const newest = snapshots.findLast((one) => one.at <= at)!
    for (const time of [String(at), new Date(at).toISOString()])
      assert.is((await past(url, `at=${encodeURIComponent(time)}`)).detail, detailWith(newest))
  }
  assert.is((await past(url, `at=${Date.now() + 60_000}`)).detail, detailWith(snapshots.at(-1)!))
  assert.is((await ask('GET', `${url}?at=${snapshots[0]!.at - 1}`)).status, 404)
})

const message = (i: number, more: object = {}) => ({
  externalId: `m${i}`,
  role: 'user',
  textContent: `text ${i}`,
  parts: [{ type: 'text', content: { text: 'x'.repeat(3_000) } }],
  ...more,
})

const sent = async (url: string, messages: readonly object[]) => {
  for (let at = 0; at < messages.length; at += 200)
    await send('POST', `${url}/messages/batch`, { messages: messages.slice(at, at + 200) })
}

test('a long list shows its past, whatever was added, changed and moved since', async () => {
  const { url, present } = await newTrace()
  const count = 1_500
  await sent(
    url,
    Array.from({ length: count }, (_, i) => message(i, { order: (i * 7) % count })),
  )
  await sent(url, [message(3, { order: 5, textContent: 'moved' }), message(8, { textContent: 'changed' })])
  const was = await present()
  const all = Array.from({ length: count }, (_, i) => message(i, { order: i, textContent: 'anew' }))
  await sent(
    url,
    all.filter((_, i) => i % 3 > 0),
  )
  await sent(url, [message(count, { order: -1 }), message(count + 1)])
  const found = await past(url, `revision=${was.revision}`)
  assert.ok(found.withParts === was.withParts && found.messages === was.messages)
  assert.is(found.detail, detailWith(was))
  assert.equal(
    await pages(`${url}/messages?revision=${was.revision}`, 400),
    listOf(was).map(({ externalId }) => externalId),
  )
})

test('invalid requests are refused, and missing traces are not found', async () => {
  const { url, present } = await newTrace()
  const { revision, at } = await present()
  const status = async (query: string) => (await ask('GET', `${url}${query}`)).status
  for (const path of ['', '/messages']) {
    for (const query of ['revision=x', 'revision=', 'revision=-1', 'revision=1.5', `revision=${revision}&at=${at}`])
      assert.is(await status(`${path}?${query}`), 400, query)
    for (const time of ['yesterday', '', '2026-02-30T00:00:00Z', '2026-01-02', '2026-01-02T03:04:05', '-5', '1e3'])
      assert.is(await status(`${path}?at=${encodeURIComponent(time)}`), 400, time)
    for (const query of ['revision=9999999999999999', `revision=${revision + 1}`, 'at=0'])
      assert.is(await status(`${path}?${query}`), 404, query)
  }
  for (const query of ['', '?from=x', '?from=1&to=0', '?from=', '?from=0&to=x'])
    assert.is(await status(`/diff${query}`), 400)
  for (const query of ['?from=0&to=7', '?from=7']) assert.is(await status(`/diff${query}`), 404)
  assert.is(await status(`/messages?revision=${revision}&changedSince=0`), 400)
  assert.is(await status(`/messages?revision=${revision}&cursor=x`), 400)
})

test.run()
