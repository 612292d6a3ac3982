import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newPastMemo } from '../../../src/server/history/past-memo.ts'
import { openHistory } from './support.ts'

const test = suite('history: the cache of past states')

const { node, user } = await openHistory(test)

test('a trace whose past took much work is forgotten when it is deleted', async () => {
  const { url, id } = await user.newTrace({ title: 'first' })
  const rename = { type: 'TraceUpdated', data: { patch: [{ op: 'replace', path: '/title', value: 'again' }] } } as const
  const { traces, write, memo } = node.service
  for (let i = 0; i < 5; i++) await write(traces, id, { decide: () => new Array(500).fill(rename) }, {})
  await user.send('GET', `${url}?revision=2500`)
  const remembered = memo.of({ id: id, incarnation: 0n, revision: 2500n }).trace
  assert.is(remembered.get()?.fields.title, 'again')
  await user.send('DELETE', url)
  assert.is(remembered.get(), undefined)
})

const [id, other] = ['a', 'b']
const ordinals = Int32Array.of(1)
const deletion = (revision: bigint) => ({ type: 'TraceDeleted', streamId: id, revision })

test('a result computed while its trace is deleted is not cached; results of other traces and of its successor are', () => {
  const memo = newPastMemo()
  const [late, next, ofOther] = [
    { id, incarnation: 0n, revision: 3n },
    { id, incarnation: 5n, revision: 6n },
    { id: other, incarnation: 0n, revision: 3n },
  ].map((moment) => memo.of(moment).sortedOrdinals)
  ofOther!.set(ordinals)
  memo.observe(deletion(4n))
  late!.set(ordinals)
  next!.set(ordinals)
  assert.equal([late!.get(), next!.get(), ofOther!.get()], [undefined, ordinals, ordinals])
  memo.observe(deletion(7n))
  assert.equal([next!.get(), ofOther!.get()], [undefined, ordinals])
})

test('a result begun before the cache was cleared is not cached', () => {
  const memo = newPastMemo()
  const moment = { id, incarnation: 0n, revision: 3n }
  const begun = memo.of(moment).sortedOrdinals
  memo.clear()
  begun.set(ordinals)
  assert.is(begun.get(), undefined)
  const anew = memo.of(moment).sortedOrdinals
  anew.set(ordinals)
  assert.equal(anew.get(), ordinals)
})

test('empty entries are removed', () => {
  const memo = newPastMemo()
  const remembered = Array.from({ length: 20_000 }, (_, i) => memo.of({ id, incarnation: 0n, revision: BigInt(i) }))
  for (const { sortedOrdinals } of remembered) sortedOrdinals.set(new Int32Array())
  assert.is(remembered[0]!.sortedOrdinals.get(), undefined)
  assert.ok(remembered.at(-1)!.sortedOrdinals.get())
})

test.run()
