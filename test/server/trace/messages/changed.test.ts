import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { changedMessages } from '../../../../src/server/trace/messages/changed.ts'
import { traceDetail } from '../../../../src/server/trace/queries.ts'
import { openWorld, signIn } from '../../../support/world.ts'

const test = suite('messages that have changed')

const clock = { now: Date.UTC(2026, 0, 1) }
const { node } = await openWorld(test, { now: () => clock.now })
const { send, say } = await signIn(node)

/** About how many characters each message of a test has. */
const SIZE = 10_600

/** What the client calls each trace. */
const names = new Map<string, string>()

/** A trace of these batches, each written a millisecond after the one before. */
const traceOf = async (...batches: readonly (readonly string[])[]) => {
  const name = randomUUID()
  const url = `/v1/traces/${name}`
  const { trace } = await send<{ trace: { id: string } }>('PUT', url, {})
  for (const ids of batches) {
    clock.now += 1
    const messages = ids.map((id) => ({ externalId: id, role: 'user', textContent: clock.now + 'x'.repeat(10_000) }))
    await say(url, messages)
  }
  const { id } = trace
  names.set(id, name)
  return id
}

/** All messages, as for a client that has none, piece by piece. */
const piecesOf = async (id: string, options: { size: number; most: number }) => {
  const { reads } = node.service
  const trace = (await traceDetail(reads, id))!
  const pieces: string[][] = []
  for (let since = -1n; ;) {
    const { rows, revision, hasMore } = await changedMessages(reads, trace, { since, includeParts: false, ...options })
    pieces.push(rows.map(({ external_id }) => external_id))
    if (!hasMore) return { pieces, isUpToDate: revision === trace.revision }
    since = revision
  }
}

test('come in pieces of whole batches, at least one', async () => {
  const id = await traceOf(['a', 'b', 'c'], ['d'], ['e', 'f'])
  const most = 100 * SIZE
  for (const [size, pieces] of [
    [1, [['a', 'b', 'c'], ['d'], ['e', 'f']]],
    [
      3.5 * SIZE,
      [
        ['a', 'b', 'c'],
        ['d', 'e', 'f'],
      ],
    ],
    [6.5 * SIZE, [['a', 'b', 'c', 'd', 'e', 'f']]],
  ] as const)
    assert.equal(await piecesOf(id, { size, most }), { pieces, isUpToDate: true })
})

test('are in the last batch that has changed them', async () => {
  const id = await traceOf(['a', 'b', 'c'], ['b', 'd'])
  const { pieces } = await piecesOf(id, { size: 1, most: 100 * SIZE })
  assert.equal(pieces, [
    ['a', 'c'],
    ['b', 'd'],
  ])
})

test('of a batch that is too large for one piece come in several', async () => {
  const id = await traceOf(['a'], ['b', 'c', 'd'], ['e'])
  const { pieces, isUpToDate } = await piecesOf(id, { size: 1.5 * SIZE, most: 1.9 * SIZE })
  assert.equal(pieces, [['a'], ['b', 'c'], ['d'], ['e']])
  assert.ok(isUpToDate)
})

test('are cut between batches also where they are very many', async () => {
  const ids = (from: number) => Array.from({ length: 150 }, (_, i) => `m${from + i}`)
  const id = await traceOf(...Array.from({ length: 8 }, (_, i) => ids(150 * i)))
  const { pieces } = await piecesOf(id, { size: 1e9, most: 1e9 })
  assert.equal(
    pieces.map((piece) => piece.length),
    [900, 300],
  )
})

test('after an erasure of the past all messages come, also those with older times', async () => {
  const id = await traceOf(['a', 'b'], ['c', 'd'], ['e'], ['a'])
  const path = `/v1/traces/${names.get(id)}/history/erase`
  await send('POST', path, {})
  for (const size of [1, 2.5 * SIZE, 100 * SIZE]) {
    const { pieces, isUpToDate } = await piecesOf(id, { size, most: 2.5 * SIZE })
    assert.equal([pieces.flat().sort(), isUpToDate], [['a', 'b', 'c', 'd', 'e'], true])
  }
})

test.run()
