import { searchGroup } from '../../projections/index.ts'
import { mergeLockOf } from '../../projections/search/merge.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { cursorOf, firstPageStart } from '../../src/server/search/cursor.ts'
import {
  HIGHEST_LEVEL,
  MERGED,
  SEGMENT_ROWS,
  type Segment,
  createMerged,
  createSegment,
  indexSegment,
  keyOfMerged,
  segmentName,
} from '../../src/tables/search.ts'
import { withConnection } from '../support/database.ts'
import { type Named, type Setting, atMost, percentile, timesOf } from './measure.ts'
import { allIndexed } from './search.ts'
import type { World } from './world.ts'

/** How many rows are written besides those of real messages, unless `--messages` says it. */
const ROWS = 1_000_000
/** How many words occur once in real messages, which are older than all other rows. */
const WORDS = 400
const wordOf = (i: number) => `once${i}only`

/** From how many rows on the segments that are merged have 64 Ki rows each; of fewer they have 8 Ki. */
const LARGE = 4_000_000

const rowsOf = (level: number) => SEGMENT_ROWS * MERGED ** level

/**
 * The levels of the segments with so many rows, the oldest first: those of merged segments as merges leave them, and before them eight that are merged
 * once the first of them is there.
 */
const levelsOf = (rows: number): number[] => {
  const small = rows < LARGE ? 0 : 1
  const levels: number[] = Array.from({ length: small === 0 ? MERGED - 1 : MERGED }, () => small) // real messages have one of level 0
  let left = rows - MERGED * rowsOf(small)
  for (let level = HIGHEST_LEVEL; level > small; level--)
    for (; left >= rowsOf(level); left -= rowsOf(level)) levels.push(level)
  return levels
}

/** Segments one after another from a position on, and the newest one behind them. */
const segmentsFrom = (position: bigint, levels: readonly number[]): Segment[] => {
  let start = position
  const complete = levels.map((level) => ({ start, end: (start += BigInt(rowsOf(level))), level }))
  return [...complete, { start, level: 0 }]
}

/** SQL for words: one that occurs nowhere else, and those of a vocabulary of which half as many are twice as frequent, and so on. */
const tokens = `array[hashint8(seq), ${Array.from({ length: 16 }, (_, k) => `hashint8(${k}000000 + seq * 7919 % ${10 * 2 ** k})`).join()}]`

const insert = (segment: Segment) => `
  insert into ${segmentName(segment)} (trace_id, incarnation, ordinal, place, seq, at, late, tokens, of_trace)
  select md5((seq / 100)::text)::uuid, 0, (seq % 100)::int4, 0, seq, seq * 1000, 0, ${tokens}, o.of_trace
  from generate_series(${segment.start}::int8, ${(segment.end ?? segment.start + BigInt(SEGMENT_ROWS / 2)) - 1n}::int8) seq,
    (select of_trace from search_docs_0_0 where ordinal = 0 limit 1) o`

/** Writes rows into the index; their events would take hours. */
const fill = ({ databaseUrl }: World, segments: readonly Segment[]): Promise<void> =>
  withConnection(databaseUrl, async (client) => {
    await client.query(`set search_path = ${schemaOf(searchGroup)}; set maintenance_work_mem = '512MB'`)
    for (const segment of segments) {
      const inherits = `alter table ${segmentName(segment)} inherit search_docs`
      if (segment.end === undefined) await client.query(`${createSegment(segment.start)} ${insert(segment)}`)
      else
        await client.query(
          `${createMerged(segment)} ${insert(segment)}; ${keyOfMerged(segment)}; ${indexSegment(segment)}; ${inherits}`,
        )
      await client.query(`vacuum analyze ${segmentName(segment)}`)
    }
  })

const drop = ({ databaseUrl }: World, segments: readonly Segment[]): Promise<unknown> =>
  withConnection(databaseUrl, (client) =>
    client.query(`drop table ${segments.map((one) => `${schemaOf(searchGroup)}.${segmentName(one)}`).join()}`),
  )

/** SQL that says whether segments are merged now. */
const isMerging = `exists (
  select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
    and classid::int8 << 32 | objid::int8 = ${mergeLockOf(`'${schemaOf(searchGroup)}'`)}
)`

/** Waits until a merge begins or a segment is there, and returns which of them. */
const mergeOf = ({ databaseUrl }: World, segment: Segment): Promise<'under way' | 'done'> =>
  withConnection(databaseUrl, async (client) => {
    const isDone = `to_regclass('${schemaOf(searchGroup)}.${segmentName(segment)}') is not null`
    for (;;) {
      const { rows } = await client.query(`select ${isDone} as "isDone", ${isMerging} as "isMerging"`)
      if (rows[0]!.isDone) return 'done'
      if (rows[0]!.isMerging) return 'under way'
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })

/**
 * How long the first page of a word that occurs once takes, in the oldest of so many rows, beside a tenth of them; and while segments are merged. All
 * segments have the rights of the real messages, so that each has to be asked.
 */
export const searchRare = async ({ world, messages = ROWS }: Setting): Promise<readonly Named[]> => {
  const { authorization } = await world.signIn('search-rare')
  await world.call('PUT', '/v1/traces/rare', authorization, {})
  await world.upload('/v1/traces/rare', authorization, WORDS, (count, first) =>
    Array.from({ length: count }, (_, i) => ({
      ...{ externalId: `m${first + i}`, role: 'user', order: first + i },
      textContent: `the word is ${wordOf(first + i)}`,
    })),
  )
  await allIndexed(world)
  const position = await withConnection(world.databaseUrl, async (client) => {
    await client.query(`set search_path = ${schemaOf(searchGroup)}`)
    const { rows } = await client.query<{ last: string }>('select max(seq)::text as last from search_docs')
    const end = BigInt(rows[0]!.last) + 1_000n // what else the service appends meanwhile is not searched for
    await client.query(indexSegment({ start: 0n, end, level: 0 }))
    return end
  })

  const timesAmong = async (segments: readonly Segment[], whileMerged?: Segment) => {
    const end = segments.at(-1)!.start + BigInt(SEGMENT_ROWS)
    const cursor = cursorOf(firstPageStart(end, 0))
    const ask = async (i: number) => {
      const path = `/v1/search?q=${wordOf(i % WORDS)}&cursor=${cursor}`
      const { data } = JSON.parse(await world.ask('GET', path, authorization))
      if (data.results.length !== 1) throw new Error(`${wordOf(i % WORDS)} is not on the first page`)
    }
    if (!whileMerged) return timesOf(0, ask, 2 * WORDS)
    const times: number[] = []
    while ((await mergeOf(world, whileMerged)) !== 'done')
      times.push(...(await timesOf(0, (i) => ask(times.length + i), 20)))
    return times
  }

  const [, ...few] = segmentsFrom(position, levelsOf(messages / 10))
  await fill(world, few)
  const timesOfFew = await timesAmong(few)
  await drop(world, few)
  const [first, ...many] = segmentsFrom(position, levelsOf(messages)) as [Segment, ...Segment[]]
  await fill(world, many)
  const timesOfMany = await timesAmong(many)
  await fill(world, [first])
  await world.call('PUT', '/v1/traces/another', authorization, {}) // upkeep begins after a batch
  const merged = first.level === 0 ? { start: 0n, level: 1 } : { ...first, level: first.level + 1 }
  const timesMeanwhile = await timesAmong(many, merged)
  const p95 = (times: readonly number[]) => percentile(times, 0.95)
  return [
    {
      name: `search-rare of ${messages} rows, p50`,
      unit: 'ms',
      value: percentile(timesOfMany, 0.5),
      yardstick: percentile(timesOfFew, 0.5),
    },
    {
      ...atMost(`search-rare of ${messages} rows, p95`, 'ms', p95(timesOfMany), 2 * p95(timesOfFew)),
      yardstick: p95(timesOfFew),
    },
    {
      ...atMost(
        `search-rare during a merge, p95 of ${timesMeanwhile.length}`,
        'ms',
        p95(timesMeanwhile),
        1.5 * p95(timesOfMany),
      ),
      yardstick: p95(timesOfMany),
    },
  ]
}
