import type { ServerResponse } from 'node:http'
import Fastify from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { installErrors } from '../../../src/server/http/errors.ts'
import { notFound } from '../../../src/server/http/http-error.ts'
import { BrokenOff, type Chunk, type LongList } from '../../../src/server/http/long-list.ts'
import { type LongListsOptions, newLongLists } from '../../../src/server/http/long-lists.ts'
import { newNodePermits } from '../../../src/server/http/node-permits.ts'
import { newPermits } from '../../../src/base/permits.ts'
import { connectionsOf, listen, openSlowReader } from '../../support/slow-reader.ts'
import { until } from '../../support/until.ts'

const test = suite('http: long lists')

type Numbered = { readonly n: number; readonly text: string }
type List = LongList<Numbered>

const MiB = 1024 * 1024
const LONG = 40

/** Chunks of so many rows each, with a text of this length. */
const chunksOf = (counts: readonly number[], length = 1) =>
  async function* (): AsyncGenerator<Chunk<Numbered>, void> {
    let n = 0
    for (const count of counts) {
      const rows = Array.from({ length: count }, () => ({ n: ++n, text: 'x'.repeat(length) }))
      yield { rows, size: count * length }
    }
  }

const longChunks = chunksOf(Array(LONG).fill(1), MiB)

const listOf = (given: Partial<List>): List => ({
  reader: { caller: undefined, namespaceId: 'here', traceId: 'trace', isMember: false },
  check: async () => 0n,
  chunkSize: MiB,
  chunks: longChunks,
  before: '[',
  toText: ({ text }) => JSON.stringify(text),
  after: () => ']',
  ...given,
})

/** A server that answers every request with a list. */
const serve = async (
  list: List | (() => List),
  { capacity = 32 * MiB, ...options }: Partial<LongListsOptions> & { readonly capacity?: number } = {},
) => {
  const answers = newPermits({ capacity, things: 'answers', minPace: 200_000 })
  const permits = newNodePermits(0, { answers })
  const longLists = newLongLists({ now: Date.now, permits, ...options })
  const app = Fastify()
  installErrors(app)
  let response: ServerResponse | undefined
  app.get('/', async (_request, reply) => {
    response = reply.raw
    return longLists.send(reply, typeof list === 'function' ? list() : list)
  })
  const port = await listen({ app })
  const open = () => openSlowReader(port, '/')
  const close = async () => {
    await app.close()
    permits.close()
  }
  return { app, open, port, longLists, response: () => response!, close }
}

const rest = async (opened: Awaited<ReturnType<typeof serve>>) => (await opened.open()).rest()

test('have texts that are made elsewhere, and send a long beginning before any row is made', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  async function* later(...texts: readonly string[]) {
    await promise
    yield* texts
  }
  const before = 'x'.repeat(10_000)
  const given = { before, toText: ({ n }: Numbered) => later(`${n}`, ';'), after: () => later('the', ' end') }
  const served = await serve(listOf({ chunks: chunksOf([2, 1]), ...given }))
  const answer = await fetch(`http://127.0.0.1:${served.port}/`)
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  assert.is((await reader.read()).value, before)
  resolve()
  let rest = ''
  for (let read = await reader.read(); !read.done; read = await reader.read()) rest += read.value
  assert.is(rest, '1;2;3;the end')
  await served.close()
})

test('have all rows with text in order, whatever the chunks', async () => {
  const toText = ({ n }: Numbered) => (n % 5 ? String(n) : undefined)
  for (const counts of [[], [0], [1], [7, 0, 1], [20_000, 13, 30_000]]) {
    const served = await serve(listOf({ chunks: chunksOf(counts), toText }))
    const { text, isWhole } = await rest(served)
    const total = counts.reduce((sum, count) => sum + count, 0)
    const all = Array.from({ length: total }, (_, i) => i + 1)
    assert.equal(
      JSON.parse(text),
      all.filter((n) => n % 5),
    )
    assert.ok(isWhole)
    await served.close()
  }
})

test('read a chunk when the client has read those before it, whatever their size', async () => {
  let [asked, most] = [0, 0]
  const chunks = async function* () {
    for await (const chunk of longChunks()) {
      const { socket } = served.response()
      const sent = socket!.bytesWritten - socket!.writableLength
      most = Math.max(most, asked - sent)
      asked += chunk.size
      yield chunk
    }
  }
  const served = await serve(listOf({ chunks }))
  const reader = await served.open()
  for (let i = 0; i < LONG - 1; i++) await reader.take(MiB)
  const { text, isWhole } = await reader.rest()
  assert.ok(isWhole)
  assert.is(text.length, LONG * (MiB + 3) + 1)
  assert.ok(most < 1.5 * MiB, `${most}`)
  await served.close()
})

test('answer an error before anything is sent, and break off after that', async () => {
  const failing = async function* (after: number, error: Error): AsyncGenerator<Chunk<Numbered>, void> {
    for await (const chunk of chunksOf(Array(after).fill(1), MiB)()) yield chunk
    throw error
  }
  for (const [error, status] of [
    [notFound(), 404],
    [new BrokenOff('changed'), 503],
    [new Error('a fault'), 500],
  ] as const) {
    const early = await serve(listOf({ chunks: () => failing(0, error) }))
    const answer = await early.app.inject('/')
    assert.is(answer.statusCode, status)
    assert.is(answer.json().ok, false)
    await early.close()
    const late = await serve(listOf({ chunks: () => failing(3, error) }))
    const { text, isWhole } = await rest(late)
    assert.ok(text.startsWith('["xxx'))
    assert.not(isWhole)
    await late.close()
  }
  const refused = await serve(listOf({ check: () => Promise.reject(notFound()) }))
  assert.is((await refused.app.inject('/')).statusCode, 404)
  await refused.close()
})

test('yield when others wait: first those whose clients have read nothing for longest', async () => {
  const served = await serve(listOf({}), { capacity: 2 * MiB })
  const stalled = [await served.open(), await served.open()]
  const third = await served.open()
  assert.ok((await third.rest()).isWhole)
  const [first, second] = [await stalled[0]!.rest(), await stalled[1]!.rest()]
  assert.not(first.isWhole)
  assert.ok(second.isWhole)
  await served.close()
})

test('are refused if there is no room and no list can yield', async () => {
  const { promise: never, resolve } = Promise.withResolvers<void>()
  let isAsked = false
  const chunks = async function* () {
    isAsked = true
    await never
    yield* longChunks()
  }
  const served = await serve(listOf({ chunks }), { capacity: MiB })
  const first = served.open()
  await until(() => isAsked)
  const answer = await served.app.inject('/')
  assert.is(answer.statusCode, 503)
  assert.is(answer.headers['retry-after'], '1')
  resolve()
  assert.ok((await (await first).rest()).isWhole)
  await served.close()
})

for (const [when, chunks, pieceRightMs] of [
  ['before each chunk', longChunks, Infinity],
  ['before a piece if that is some time ago', chunksOf([12], MiB), 0],
] as const)
  test(`go on as long as their reader may read, which is asked ${when}`, async () => {
    let mayRead = true
    const check = async () => {
      if (!mayRead) throw notFound()
      return 0n
    }
    const served = await serve(listOf({ check, chunks }), { pieceRightMs })
    const [one, other] = [await served.open(), await served.open()]
    assert.ok((await one.rest()).isWhole)
    mayRead = false
    assert.not((await other.rest()).isWhole)
    await served.close()
  })

test('are not sent while it is not known whether their reader may read', async () => {
  const { promise: unknown, resolve } = Promise.withResolvers<bigint>()
  let check = async () => 0n
  let isAsked = false
  const served = await serve(listOf({ check: () => check() }))
  const reader = await served.open()
  check = () => {
    isAsked = true
    return unknown
  }
  const rest = reader.rest()
  await until(() => isAsked)
  const sent = served.response().socket!.bytesWritten
  await until(async () => (await served.app.inject('/other')).statusCode === 404)
  assert.is(served.response().socket!.bytesWritten, sent)
  resolve(0n)
  assert.ok((await rest).isWhole)
  await served.close()
})

test('end when the session of their reader expires', async () => {
  let now = 0
  const caller = { userId: 'user', identityId: 'identity', sessionId: 'session', expiresAt: 1 }
  const reader = { caller, namespaceId: 'here', traceId: 'trace', isMember: true }
  const served = await serve(listOf({ reader }), { now: () => now })
  const slow = await served.open()
  now = 1
  assert.not((await slow.rest()).isWhole)
  await served.close()
})

test('are compressed piece by piece if they say so', async () => {
  const headers = () => ({ 'content-encoding': 'gzip' })
  const served = await serve(listOf({ isCompressed: true, headers }))
  const answer = await fetch(`http://127.0.0.1:${served.port}/`)
  assert.is(((await answer.json()) as string[]).length, LONG)
  await served.close()
})

test('end with their reader, and release the memory', async () => {
  const served = await serve(listOf({}), { capacity: MiB })
  const reader = await served.open()
  reader.leave()
  await until(async () => (await connectionsOf(served)) === 0)
  assert.ok((await rest(served)).isWhole)
  await served.close()
})

test('break off by a reset, which is not a normal end in any version of HTTP', async () => {
  let mayRead = true
  const check = async () => {
    if (!mayRead) throw notFound()
    return 0n
  }
  const served = await serve(listOf({ check }))
  const reader = await openSlowReader(served.port, '/', undefined, '1.0')
  mayRead = false
  const { error } = await reader.rest()
  assert.is((error as { code?: string }).code, 'ECONNRESET')
  await served.close()
})

test.run()
