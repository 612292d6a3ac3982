import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import type { SearchAnswer } from '../../../src/contract/search.ts'
import { segmentsStatement, unindexedStatement } from '../../../src/tables/search.ts'
import { compareSchemas } from '../../../src/eventstore/engine/compare-schemas.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild, withReplica } from '../../../src/eventstore/engine/rebuild.ts'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { until } from '../../support/until.ts'
import { type Caller, type Person, callerOf } from '../../support/world.ts'
import { type IndexedByHand, openIndexedByHand, using } from './support/indexed-by-hand.ts'
import { smallSegments } from './support/open-search.ts'

const schema = schemaOf(smallSegments)

const test = suite<IndexedByHand>('search: the backlog of the index')

test.before.each(async (scene) => {
  Object.assign(scene, await openIndexedByHand())
})
test.after.each(({ close }) => close())

/** Writes messages with the names `m0`, `m1`, … into a trace. */
const write = (writer: Person, trace: string, texts: readonly string[]) => {
  const messages = texts.map((textContent, i) => ({ externalId: `m${i}`, role: 'user', textContent }))
  return writer.newTrace({}, messages, trace)
}

/** Texts of about 16 kB, each with a number of its own: eight of them are more than a batch indexes. They take little space in the database. */
const longTexts = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => `${`${word} `.repeat(16_384 / (word.length + 1))}number${i}`)

const namesOf = async (searcher: Caller, query: string) =>
  (await searcher.send<SearchAnswer>('GET', `/v1/search?${query}`)).results.map(({ trace }) => trace.externalId)

test('a message is found while most of what another namespace has sent before still waits', (scene) =>
  using(scene, async ({ apply, workOffAll, waiting }) => {
    await write(scene.owner, 'large', longTexts(40, 'apple'))
    await write(scene.other, 'small', ['a pear'])
    await apply()
    const [count, ...more] = await waiting()
    assert.ok(count! > 30 && more.length === 0, `${count} rows wait`)
    assert.equal(await namesOf(scene.other, 'q=pear'), ['small'])
    assert.equal(await namesOf(scene.owner, 'q=number39'), [])
    await workOffAll()
    assert.equal(await namesOf(scene.owner, 'q=number39'), ['large'])
  }))

test('namespaces take turns, with the oldest rows of each first; a large message is alone in its turn', (scene) =>
  using(scene, async ({ apply, workOff, waiting, rows }) => {
    await write(scene.owner, 'one', longTexts(190, 'apple'))
    await write(scene.other, 'two', ['x'.repeat(1_200_000), ...longTexts(190, 'pear')])
    await apply()
    const oldest = async () =>
      rows<{ position: bigint }>('select min(position) as position from search_backlog group by namespace_id order by namespace_id') // prettier-ignore
    const before = await waiting()
    const large = before.indexOf(Math.max(...before))
    const began = await oldest()
    await workOff()
    await workOff()
    const after = await waiting()
    assert.is(after[large], before[large]! - 1)
    assert.ok(before[1 - large]! - after[1 - large]! > 10, `${before} ${after}`)
    for (const [i, { position }] of (await oldest()).entries()) assert.ok(position > began[i]!.position)
    await workOff()
    await workOff()
    const later = await waiting()
    assert.ok(after.every((count, i) => later[i]! < count))
  }))

test('what was deleted, changed or erased meanwhile is indexed as it is now', (scene) =>
  using(scene, async ({ apply, workOff, workOffAll, rows }) => {
    const { owner } = scene
    for (const name of ['deleted', 'changed', 'erased']) await write(owner, name, longTexts(20, `old${name}`))
    await apply()
    await owner.send('PUT', '/v1/traces/changed/messages/m19', { role: 'user', textContent: 'a newchanged' })
    await owner.send('PUT', '/v1/traces/erased/messages/m19', { role: 'user', textContent: 'a newerased' })
    await owner.send('POST', '/v1/traces/erased/history/erase')
    await owner.send('DELETE', '/v1/traces/deleted')
    await write(owner, 'deleted', ['a newdeleted'])
    await workOff() // knows nothing of these changes yet
    await apply()
    assert.equal(await rows(`select trace_id from search_backlog group by trace_id having count(*) > 21`), [])
    await workOffAll()
    assert.equal(await namesOf(owner, 'q=olddeleted'), [])
    for (const name of ['deleted', 'changed', 'erased']) assert.equal(await namesOf(owner, `q=new${name}`), [name])
    for (const name of ['changed', 'erased']) {
      assert.equal(await namesOf(owner, `q=old${name}%20number18`), [name])
      assert.equal(await namesOf(owner, `q=old${name}%20number19`), [])
    }
    const doubled = 'select from search_docs group by trace_id, ordinal having count(*) > 1'
    assert.equal([await rows(doubled), await rows<{ n: bigint }>('select count(*) as n from search_docs')], [[], [{ n: 44n }]]) // prettier-ignore
  }))

test('a message that was indexed before waits with a longer text, and leaves the backlog with its trace', (scene) =>
  using(scene, async ({ apply, workOffAll, waiting }) => {
    const { owner } = scene
    for (const name of ['kept', 'deleted']) await write(owner, name, ['short'])
    await apply()
    for (const name of ['kept', 'deleted'])
      await owner.send('PUT', `/v1/traces/${name}/messages/m0`, {
        role: 'user',
        textContent: `long ${'x '.repeat(100_000)}`,
      })
    await apply()
    assert.equal(await waiting(), [2])
    await owner.send('DELETE', '/v1/traces/deleted')
    await apply()
    assert.equal(await waiting(), [1])
    await workOffAll()
    assert.equal([await namesOf(owner, 'q=long'), await waiting()], [['kept'], []])
  }))

test('another process goes on with the backlog, and a rebuild makes the same rows', async (scene) => {
  for (const name of ['one', 'two', 'three']) await write(scene.owner, name, longTexts(60, name))
  await using(scene, async ({ apply, workOff, waiting }) => {
    await apply()
    await workOff()
    assert.ok((await waiting())[0]! > 50)
  })
  await using(scene, async ({ workOffAll, rows, waiting }) => {
    await workOffAll()
    assert.equal(await waiting(), [])
    assert.equal(await rows(unindexedStatement), [])
  })
  const live = (await dumpSchema(scene.database.url, schema)).search_docs!
  assert.is(live.length, 183)
  const { log, codec } = scene.app.service
  await rebuild({ url: scene.database.url, group: smallSegments, log, codec })
  const { search_docs: rebuilt, search_backlog: waiting } = await dumpSchema(scene.database.url, schema)
  assert.equal(rebuilt!.toSorted(), live.toSorted())
  assert.equal(waiting, [])
})

test('segments get their index once they have all their rows', (scene) =>
  using(scene, async ({ apply, workOff, workOffAll, rows }) => {
    for (const name of ['one', 'two', 'three']) {
      await write(scene.owner, name, longTexts(30, name))
      await apply()
    }
    const segments = async () => (await rows(segmentsStatement)).length
    const unindexed = async () => (await rows(unindexedStatement)).length
    assert.equal([await segments(), await unindexed()], [3, 2])
    await workOff()
    assert.is(await unindexed(), 2)
    await workOffAll()
    assert.equal([await segments(), await unindexed()], [3, 0])
    for (const name of ['one', 'two', 'three']) assert.equal(await namesOf(scene.owner, `q=${name}%20number29`), [name])
  }))

test('read models with a backlog are equal to a replica once that is worked off', (scene) =>
  using(scene, async ({ apply, waiting }) => {
    await write(scene.owner, 'one', longTexts(60, 'apple'))
    await apply()
    const { url } = scene.database
    const { log, codec } = scene.app.service
    const client = newClient(url, 'test')
    await client.connect()
    await withReplica({ url, group: smallSegments, log, codec }, async ({ schema: replica, atSamePosition }) => {
      await atSamePosition(() => client.query('begin isolation level repeatable read read only'))
      const compared = { client, group: smallSegments, live: schema, replica, quarantined: [] }
      assert.equal(await Array.fromAsync(compareSchemas(compared)), [])
      await client.query('rollback')
    }).finally(() => client.end())
    assert.equal(await waiting(), [])
  }))

test('a search says since when texts wait that the caller may read, and nothing of others', (scene) =>
  using(scene, async ({ apply, workOffAll }) => {
    const before = Date.now()
    await write(scene.owner, 'private', longTexts(20, 'apple'))
    const written = Date.now()
    await apply()
    const through = async (caller = callerOf(scene.app)) =>
      (await caller.send<SearchAnswer>('GET', '/v1/search?q=apple')).indexedThrough
    await until(() => scene.app.service.searches.behindMs() === 0)
    const own = await through(scene.owner)
    assert.ok(own >= before - 1 && own < written, `${before} ${own} ${written}`)
    for (const caller of [scene.other, undefined]) assert.ok((await through(caller)) >= written)
    await scene.owner.send('PUT', '/v1/traces/private', { visibility: 'public' })
    assert.is(await through(), own)
    await apply()
    await workOffAll()
    assert.ok((await through(scene.owner)) >= written)
  }))

test('all pages show what the first page could show, however much is indexed meanwhile', (scene) =>
  using(scene, async ({ apply, workOffAll }) => {
    const { owner } = scene
    for (let i = 0; i < 12; i++) await write(owner, `early${i}`, ['apple'])
    await apply()
    // The hits of these fill the first window, which ends with the second page. The newest messages of the other traces still wait.
    for (let i = 0; i < 10; i++) await write(owner, `late${i}`, Array<string>(12).fill('apple'))
    const textContent = `apple ${'x '.repeat(100_000)}`
    for (let i = 0; i < 12; i++)
      await owner.send('PUT', `/v1/traces/early${i}/messages/m1`, { role: 'user', textContent })
    await apply()
    for (const sort of ['newest', 'relevance']) {
      const names: string[] = []
      for (let cursor = ''; ;) {
        const { results, nextCursor } = await owner.send<SearchAnswer>(
          'GET',
          `/v1/search?q=apple&limit=5&sort=${sort}${cursor}`,
        )
        names.push(...results.map(({ trace }) => trace.externalId))
        if (names.length >= 10) await workOffAll()
        if (nextCursor === undefined) break
        cursor = `&cursor=${nextCursor}`
      }
      assert.equal([names.length, new Set(names).size], [22, 22], names.join())
    }
  }))

test('a row that cannot be written puts its trace into quarantine, and the others are written', (scene) =>
  using(scene, async ({ apply, workOffAll, rows, waiting, quarantined }) => {
    await write(scene.owner, 'bad', longTexts(20, 'apple'))
    await write(scene.other, 'good', longTexts(20, 'pear'))
    await apply()
    const bad = (
      await rows<{ id: string }>(`select id from ${schemaOf(mainGroup)}.traces where external_id = 'bad'`)
    )[0]!
    await rows(`alter table search_docs add constraint no_bad check (trace_id <> '${bad.id}' or ordinal <> 15)`)
    await workOffAll()
    assert.equal([quarantined, await waiting()], [[`trace-${bad.id}`], []])
    assert.equal(await namesOf(scene.other, 'q=number19'), ['good'])
    const stored = await rows<{ stream: string; reason: string }>('select stream, reason from quarantine')
    assert.equal(stored, [{ stream: `trace-${bad.id}`, reason: 'it violates no_bad' }])
  }))

test.run()
