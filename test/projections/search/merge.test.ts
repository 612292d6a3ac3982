import fc from 'fast-check'
import type pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { mergeSegments } from '../../../projections/search/merge.ts'
import type { SearchAnswer } from '../../../src/contract/search.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { replayStream } from '../../../src/eventstore/engine/replay.ts'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { destroyConnection, newClient, newUpkeepClient } from '../../../src/eventstore/postgres/connect.ts'
import { SqlState, hasSqlState } from '../../../src/eventstore/postgres/sql-state.ts'
import { segmentsOfNames, segmentsStatement } from '../../../src/tables/search.ts'
import { type IndexedByHand, openIndexedByHand, using } from '../../server/search/support/indexed-by-hand.ts'
import { smallSegments } from '../../server/search/support/open-search.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { runs } from '../../support/runs.ts'
import { until } from '../../support/until.ts'
import type { Person } from '../../support/world.ts'

const schema = schemaOf(smallSegments)
const test = suite<IndexedByHand>('projections: segments of the search index are merged')

test.before.each(async (scene) => {
  Object.assign(scene, await openIndexedByHand())
})
test.after.each(({ close }) => close())

type Indexer = Parameters<Parameters<typeof using>[1]>[0]

/** Fills one segment. The first message of each trace has a word of its own. */
const fillSegment = async ({ owner }: IndexedByHand, { apply, workOffAll }: Indexer, name: string) => {
  const texts = Array.from({ length: 19 }, (_, i) => (i === 0 ? `only${name}` : `every ${name}x${i}`))
  const messages = texts.map((textContent, i) => ({ externalId: `m${i}`, role: 'user', textContent }))
  await owner.newTrace({}, messages, name)
  await apply()
  await workOffAll()
}

const fillSegments = async (scene: IndexedByHand, indexer: Indexer, count: number) => {
  for (let i = 0; i < count; i++) await fillSegment(scene, indexer, `t${i}`)
}

/** The names of the traces that are found, in the order of the answer. */
const find = async ({ owner }: IndexedByHand, q: string) => {
  const found: string[] = []
  for (let cursor = ''; ;) {
    const path = `/v1/search?sort=newest&q=${encodeURIComponent(q)}${cursor}`
    const { results, nextCursor } = await owner.send<SearchAnswer>('GET', path)
    found.push(...results.map(({ trace }) => trace.externalId))
    if (nextCursor === undefined) return found
    cursor = `&cursor=${nextCursor}`
  }
}

const rowsOf = async ({ database }: IndexedByHand) => (await dumpSchema(database.url, schema)).search_docs!

/** The rows that a rebuild makes. */
const rebuilt = async (scene: IndexedByHand) => {
  const { log, codec } = scene.app.service
  await rebuild({ url: scene.database.url, group: smallSegments, log, codec })
  return rowsOf(scene)
}

/** The levels of the segments, the oldest first. */
const levelsOf = async ({ rows }: Indexer) => {
  const names = (await rows<{ name: string }>(segmentsStatement)).map(({ name }) => name)
  return segmentsOfNames(names)
    .map(({ level }) => level)
    .reverse()
}

/** All tables of segments, whether they are in use or not. */
const tables = ({ rows }: Indexer) =>
  rows(`select from pg_class where relkind = 'r' and relname ~ '^search_docs_' and relnamespace = '${schema}'::regnamespace`) // prettier-ignore

type Options = { readonly client?: pg.Client; readonly hasRoom?: (bytes: number) => boolean }

/** Merges what can be merged. */
const merge = async ({ database }: IndexedByHand, { client, hasRoom = () => true }: Options = {}) => {
  const own = client ?? newUpkeepClient(database.url, schema)
  await own.connect()
  try {
    return await mergeSegments.run(own, { schema, hasRoom, signal: new AbortController().signal })
  } finally {
    await own.end()
  }
}

/** Runs work after segments were copied, and before they are exchanged: meanwhile a transaction is open as those of batches are. */
const beforeExchange = async (scene: IndexedByHand, options: Options, work: (indexer: Indexer) => Promise<void>) => {
  const { lease } = scene
  await lease.query('select pg_advisory_lock_shared(hashtext($1))', [locks.swap(schema)])
  const merged = merge(scene, options)
  merged.catch(() => {})
  const waits = `select from pg_locks where locktype = 'advisory' and not granted`
  await until(async () => (await lease.query(waits)).rows.length > 0)
  await using(scene, work)
  await lease.query('select pg_advisory_unlock_shared(hashtext($1))', [locks.swap(schema)])
  return merged
}

/** Sessions that hold a lock for merges, though they have no transaction which the server would end if their processes froze. */
const withoutEnd = `
  select from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and application_name = 'tracebook upkeep ${schema}' and xact_start is null`

/** A client that checks before each statement that a process which freezes there leaves no lock for long. */
const watchedClient = ({ database }: IndexedByHand, { rows }: Indexer): pg.Client => {
  const client = newUpkeepClient(database.url, schema)
  const query = client.query.bind(client) as (statement: unknown, values?: unknown) => Promise<unknown>
  const watched = async (statement: unknown, values?: unknown) => {
    assert.equal(await rows(withoutEnd), [])
    return query(statement, values)
  }
  return Object.assign(client, { query: watched })
}

test('eight full segments become one, and all that was found is found again', (scene) =>
  using(scene, async (indexer) => {
    await fillSegments(scene, indexer, 18)
    const before = [await rowsOf(scene), await find(scene, 'every'), await find(scene, 'onlyt3')]
    assert.equal(await levelsOf(indexer), Array(18).fill(0))
    assert.is(await merge(scene, { client: watchedClient(scene, indexer) }), true)
    assert.equal(await levelsOf(indexer), [1, 1, 0, 0])
    assert.equal([await rowsOf(scene), await find(scene, 'every'), await find(scene, 'onlyt3')], before)
    assert.is((before[1] as string[]).length, 18)
  }))

/** Tries the lock that an autovacuum takes, which skips a table that is locked. */
const mayBeginVacuum = async ({ rows }: Indexer, table: string) => {
  await rows('begin')
  const found = await rows(`lock table ${table} in share update exclusive mode nowait`).then(
    () => true,
    (error: unknown) => !hasSqlState(error, SqlState.lockNotAvailable),
  )
  await rows('rollback')
  return found
}

/** Changes that rows of the first traces go through. */
const changes = {
  delete: (owner: Person, name: string) => owner.send('DELETE', `/v1/traces/${name}`),
  change: (owner: Person, name: string) =>
    owner.send('PUT', `/v1/traces/${name}/messages/m1`, { role: 'user', textContent: `changed ${name}` }),
  retag: (owner: Person, name: string) => owner.send('PUT', `/v1/traces/${name}`, { agentId: 'another' }),
  erase: async (owner: Person, name: string) => {
    await owner.send('PUT', `/v1/traces/${name}/messages/m0`, { role: 'user', textContent: `erased ${name}` })
    await owner.send('POST', `/v1/traces/${name}/history/erase`)
  },
}

test('what is removed, changed and erased during a merge is so in the new segment', (scene) =>
  using(scene, async (indexer) => {
    const { owner } = scene
    await fillSegments(scene, indexer, 9)
    await beforeExchange(scene, {}, async (other) => {
      const { apply, workOffAll } = other
      assert.not(await mayBeginVacuum(other, 'search_docs_0_0'), 'an autovacuum would hold up the exchange')
      await changes.delete(owner, 't1')
      await changes.change(owner, 't2')
      await changes.erase(owner, 't3')
      await changes.retag(owner, 't4')
      await apply()
      await workOffAll()
      assert.equal(await find(scene, 'onlyt5'), ['t5'], 'searches go on')
    })
    assert.equal([await levelsOf(indexer), (await tables(indexer)).length], [[1, 0, 0], 3])
    assert.equal([await find(scene, 'onlyt1'), await find(scene, 'onlyt3'), await find(scene, 't2x1')], [[], [], []])
    assert.equal([await find(scene, 'changed'), await find(scene, 'agent:another onlyt4')], [['t2'], ['t4']])
    assert.equal(await rowsOf(scene), await rebuilt(scene))
  }))

test('a stream that is replayed during a merge has the rows of the replay', (scene) =>
  using(scene, async (indexer) => {
    await fillSegments(scene, indexer, 9)
    const before = await rowsOf(scene)
    const { log, codec } = scene.app.service
    const [{ id }] = (await indexer.rows(`select id from ${schemaOf(mainGroup)}.traces where external_id = 't2'`)) as [{ id: string }] // prettier-ignore
    await indexer.rows(`delete from search_docs where trace_id = '${id}' and ordinal = 3`)
    await beforeExchange(scene, {}, async ({ rows, client }) => {
      await rows('begin')
      await replayStream({ client, group: smallSegments, schema }, { log, codec }, `trace-${id}`, await log.head())
      await rows('commit')
    })
    assert.equal([await levelsOf(indexer), await rowsOf(scene)], [[1, 0], before])
  }))

const kinds = ['delete', 'change', 'retag', 'erase'] as const

const Op = fc.record({
  kind: fc.constantFrom('fill', 'fill', 'fill', ...kinds, 'merge', 'merge meanwhile', 'merge meanwhile'),
  of: fc.nat(50),
})

test('after any changes, with merges at any time, the rows are those of a rebuild, and searches find what is there', async () => {
  const check = fc.asyncProperty(fc.array(Op, { minLength: 40, maxLength: 40 }), async (ops) => {
    const scene = await openIndexedByHand()
    const there = new Set<string>()
    let filled = 0
    const step = async (indexer: Indexer, { kind, of }: (typeof ops)[0]) => {
      const name = [...there][of % Math.max(1, there.size)]
      if (kind === 'fill') {
        there.add(`t${filled}`)
        await fillSegment(scene, indexer, `t${filled++}`)
      } else if (kind === 'merge' || kind === 'merge meanwhile') await merge(scene)
      else if (name !== undefined) {
        await changes[kind](scene.owner, name)
        await indexer.apply()
        if (kind === 'delete') there.delete(name)
      }
    }
    await using(scene, async (indexer) => {
      await fillSegments(scene, indexer, 9)
      for (; filled < 9; filled++) there.add(`t${filled}`)
      for (const [i, op] of ops.entries()) {
        const waits = op.kind === 'merge meanwhile' && (await mergeSegments.isDue((_, text) => indexer.rows(text)))
        if (!waits) await step(indexer, op)
        else
          await beforeExchange(scene, {}, async (other) => {
            for (const [j, kind] of kinds.entries()) await step(other, { kind, of: op.of + i + j })
          })
      }
      await indexer.workOffAll()
      await merge(scene)
      const found = (await find(scene, 'every')).toSorted()
      assert.equal(found, [...there].toSorted())
      assert.equal(await rowsOf(scene), await rebuilt(scene))
    }).finally(scene.close)
  })
  await fc.assert(check, { numRuns: runs(1), endOnFailure: true })
})

test('of a merge that is killed nothing is left, and the next one begins again', (scene) =>
  using(scene, async (indexer) => {
    await fillSegments(scene, indexer, 9)
    const before = await rowsOf(scene)
    const client = newUpkeepClient(scene.database.url, schema)
    const killed = beforeExchange(scene, { client }, async () => destroyConnection(client))
    await killed.then(
      () => assert.unreachable(),
      () => {},
    )
    await until(async () => (await indexer.rows(`select from pg_stat_activity where application_name = 'tracebook upkeep ${schema}'`)).length === 0) // prettier-ignore
    assert.equal([await levelsOf(indexer), (await tables(indexer)).length], [Array(9).fill(0), 9])
    assert.equal([await rowsOf(scene), await find(scene, 'onlyt3')], [before, ['t3']])
    assert.is(await merge(scene), true)
    assert.equal([await levelsOf(indexer), await rowsOf(scene)], [[1, 0], before])
  }))

test('a search that has read the names of the old segments begins again', (scene) =>
  using(scene, async (indexer) => {
    await fillSegments(scene, indexer, 9)
    let began = 0
    const names = await scene.app.service.searches.snapshot(async (readRows) => {
      const found = await readRows<{ name: string }>('', segmentsStatement)
      if (began++ === 0) assert.is(await merge(scene), true)
      for (const { name } of found) await readRows('', `select from ${name} limit 1`)
      return found
    })
    assert.equal([began, names.length], [2, 2])
  }))

test('a merge waits for room on the disk, for backups that have locked its tables, and for another merge', (scene) =>
  using(scene, async (indexer) => {
    await fillSegments(scene, indexer, 9)
    let asked = 0
    assert.is(await merge(scene, { hasRoom: (bytes) => ((asked = bytes), false) }), false)
    assert.ok(asked > 9 * 8_192, String(asked))
    const other = newClient(scene.database.url, 'test')
    await other.connect()
    await other.query(`begin; lock table ${schema}.search_docs_0_0 in access share mode; select pg_sleep(5)`)
    assert.is(await merge(scene), false)
    await other.end()
    assert.equal(await levelsOf(indexer), Array(9).fill(0))
  }))

test.run()
