import type pg from 'pg'
import type { ReadRows, Upkeep, UpkeepOptions, WriteStatement } from '../../src/eventstore/engine/projection.ts'
import { toMerge } from './segments.ts'
import { pause } from '../../src/base/waits.ts'
import { locks } from '../../src/eventstore/engine/schema.ts'
import { int4s, uuids } from '../../src/eventstore/postgres/arrays.ts'
import { SqlState, hasSqlState } from '../../src/eventstore/postgres/sql-state.ts'
import {
  type Segment,
  createMerged,
  indexSegment,
  indexedStatement,
  keyOfMerged,
  segmentName,
  segmentsOfNames,
} from '../../src/tables/search.ts'

/** Segments that become another one, the oldest first. */
type Merge = { readonly from: readonly Segment[]; readonly to: Segment }

/** The next merge, of segments that have all their rows. */
const nextMerge = async (read: ReadRows): Promise<Merge | undefined> => {
  const found = await read<{ name: string; isIndexed: boolean }>('search-indexed', indexedStatement, [])
  const indexed = new Set(found.filter(({ isIndexed }) => isIndexed).map(({ name }) => name))
  const all = segmentsOfNames(found.map(({ name }) => name)).toReversed()
  const next = toMerge(
    all.slice(
      0,
      all.findIndex((segment) => !indexed.has(segmentName(segment))),
    ),
  )
  if (!next) return undefined
  const { some, level } = next
  return { from: some, to: { start: some[0]!.start, end: some.at(-1)!.end!, level } }
}

/** SQL for the lock that is held while segments of a schema are merged. Who changes rows tries it: see `noteChanged`. */
export const mergeLockOf = (schema: string) => `hashtext('tracebook merge ' || ${schema})`
const mergeLock = mergeLockOf('current_schema()')

// The lock is free: then it stays so until this transaction is over, and a merge that begins afterwards reads what it has changed.
const insertChanged = `
  insert into search_changed select * from unnest($1::uuid[], $2::int4[]) where not pg_try_advisory_xact_lock_shared(${mergeLock})`

/**
 * Tells a merge that is under way, if there is one, which rows this transaction changes or removes: those of a whole trace without an ordinal. A merge has
 * read them already, or will read them again.
 */
export const noteChanged = (
  rows: readonly { readonly traceId: string; readonly ordinal?: number }[],
  write: WriteStatement,
): void => {
  if (rows.length === 0) return
  write('search-changed', insertChanged, [
    uuids(rows.map(({ traceId }) => traceId)),
    int4s(rows.map(({ ordinal }) => ordinal)),
  ])
}

type Client = pg.ClientBase

const CHANGED_AT_ONCE = 20_000

const takeChanged = `
  delete from search_changed where ctid = any(array(select ctid from search_changed limit ${CHANGED_AT_ONCE})) returning trace_id, ordinal`

const isChanged = 'd.trace_id = c.trace_id and d.ordinal = coalesce(c.ordinal, d.ordinal)'

/** Copies rows again that have been changed since they were copied, and removes those that have been removed. Returns false if there were none. */
const copyChanged = async (client: Client, { to }: Merge): Promise<boolean> => {
  const { rows } = await client.query<{ trace_id: string; ordinal: number | null }>(takeChanged)
  const changed = 'unnest($1::uuid[], $2::int4[]) c (trace_id, ordinal)'
  const values = [uuids(rows.map((row) => row.trace_id)), int4s(rows.map(({ ordinal }) => ordinal))]
  await client.query(`delete from ${segmentName(to)} d using ${changed} where ${isChanged}`, values)
  await client.query(
    `insert into ${segmentName(to)} select d.* from search_docs d, ${changed}
      where ${isChanged} and d.seq >= ${to.start} and d.seq < ${to.end} on conflict do nothing`,
    values,
  )
  return rows.length > 0
}

/** How long an exchange waits for the batch that is applied. */
const BATCH_MS = 5_000
/** How long it waits for searches that read an old segment: others, which want to read it, wait as well. */
const SEARCH_MS = 250
const RETRY_MS = 1_000
const TRIES = 60

/**
 * Replaces the old segments by the new one, while no batch is applied and no search reads them. A search that has read their names before finds them gone,
 * and begins again. Returns false if that took too long.
 */
const exchange = async (client: Client, one: Merge, schema: string): Promise<boolean> => {
  const old = one.from.map(segmentName).toReversed() // in the order in which searches read them
  try {
    await client.query(`
      savepoint exchange;
      set local lock_timeout = ${BATCH_MS};
      select pg_advisory_xact_lock(hashtext('${locks.swap(schema)}'));
      set local lock_timeout = ${SEARCH_MS}`)
    while (await copyChanged(client, one));
    await client.query(`
      alter table ${segmentName(one.to)} inherit search_docs;
      drop table ${old.join(', ')};
      commit`)
    return true
  } catch (error) {
    if (!hasSqlState(error, SqlState.lockNotAvailable)) throw error
    await client.query('rollback to savepoint exchange')
    return false
  }
}

/**
 * SQL after which no autovacuum begins with segments, which would hold up their exchange; one that is under way is
 * ended. Searches and batches go on.
 */
const keepFromVacuum = (segments: readonly Segment[]) =>
  `lock table ${segments.map(segmentName).join(', ')} in share update exclusive mode`

/** Merges within the open transaction, and commits it. @throws an error if the old segments are read all the time */
const merge = async (client: Client, one: Merge, { schema, signal }: UpkeepOptions): Promise<void> => {
  const { from, to } = one
  const name = segmentName(to)
  await client.query(`
    set local maintenance_work_mem = '256MB';
    set local max_parallel_maintenance_workers = 0;
    ${keepFromVacuum(from)};
    delete from search_changed;
    ${createMerged(to)}`)
  for (const segment of from) {
    signal.throwIfAborted()
    await client.query(`insert into ${name} select * from ${segmentName(segment)}`)
  }
  await client.query(keyOfMerged(to))
  await client.query(indexSegment(to))
  while (await copyChanged(client, one)) signal.throwIfAborted()
  for (let tries = 0; !(await exchange(client, one, schema)); tries++) {
    signal.throwIfAborted()
    if (tries === TRIES) throw new Error('the segments of the search index are read all the time')
    await pause(RETRY_MS, signal)
  }
}

/** The new segment is as large as the old ones, and PostgreSQL writes all of it to its log as well. */
const SPACE_FACTOR = 2

// A backup, for example, locks tables for long: the old segments could not be dropped.
const lookStatement = `
  select (select sum(pg_total_relation_size(t)) from unnest($1::text[]::regclass[]) t)::int8 as bytes,
    exists (
      select from pg_locks l left join pg_stat_activity a using (pid)
      where l.relation = any($1::text[]::regclass[]::oid[]) and l.granted and l.pid <> pg_backend_pid()
        and coalesce(a.xact_start < clock_timestamp() - interval '5 seconds', true)
    ) as "isHeld"`

const mayMerge = async (client: Client, { from }: Merge, { hasRoom }: UpkeepOptions): Promise<boolean> => {
  const { rows } = await client.query<{ bytes: bigint; isHeld: boolean }>(lookStatement, [from.map(segmentName)])
  const { bytes, isHeld } = rows[0]!
  return !isHeld && hasRoom(SPACE_FACTOR * Number(bytes))
}

/** Another process merges, or a rebuild has replaced the schema. */
const isPassing = (error: unknown): boolean =>
  hasSqlState(error, SqlState.lockNotAvailable, SqlState.undefinedTable, SqlState.invalidSchemaName)

// Until it commits, the session is never idle outside of a transaction: the server ends it soon if the process freezes.
const beginStatement = `
  begin;
  set local lock_timeout = ${BATCH_MS};
  select pg_advisory_xact_lock(${mergeLock})`

/**
 * Merges segments until none are left that can be merged. Each merge is one transaction, so that nothing is left of one that is interrupted. Where it returns
 * early, the transaction ends with the connection.
 */
export const mergeSegments: Upkeep = {
  isDue: async (read) => (await nextMerge(read)) !== undefined,
  run: async (client, options) => {
    const read: ReadRows = async <Row extends object>(name: string, text: string) =>
      (await client.query<Row>({ name, text })).rows
    try {
      for (;;) {
        options.signal.throwIfAborted()
        await client.query(beginStatement)
        const next = await nextMerge(read)
        if (!next) return true
        if (!(await mayMerge(client, next, options))) return false
        await merge(client, next, options)
      }
    } catch (error) {
      if (isPassing(error)) return false
      throw error
    }
  },
}
