import type { ReadRows, Sender } from '../../src/eventstore/engine/projection.ts'
import {
  HIGHEST_LEVEL,
  MERGED,
  type Segment,
  createSegment,
  segmentName,
  segmentsOfNames,
  segmentsStatement,
  unindexedStatement,
} from '../../src/tables/search.ts'

/** All segments, the newest first. */
export const segmentsOf = async (read: ReadRows): Promise<Segment[]> => {
  const found = await read<{ name: string }>('search-segments', segmentsStatement, [])
  return segmentsOfNames(found.map(({ name }) => name))
}

/** The segment of a position. */
export const segmentAt = (segments: readonly Segment[], position: bigint): Segment =>
  segments.find(({ start }) => start <= position)!

/** The newest segment that each database session knows, and the approximate number of its rows, with those that still wait. */
const known = new WeakMap<object, { readonly start: bigint; readonly rows: number }>()

/** The database sessions that know that all segments but the newest have their index. */
const allIndexed = new WeakSet<object>()

const countOf = async (read: ReadRows, newest: Segment): Promise<number> => {
  const waiting = 'select count(*) from search_backlog where is_new and position >= $1'
  const statement = `select (select count(*) from ${segmentName(newest)}) + (${waiting}) as count`
  const [row] = await read<{ count: bigint }>('', statement, [newest.start])
  return Number(row!.count)
}

/** Begins a new segment at a position. Does nothing if the newest already has later rows, as in the replay of a stream. */
const beginSegment = async ({ read, session }: Sender, newest: Segment, at: bigint): Promise<boolean> => {
  const [row] = await read<{ last: bigint | null }>('', `select max(seq) as last from ${segmentName(newest)}`, [])
  if (at <= newest.start || (row!.last ?? 0n) >= at) return false
  for (const statement of createSegment(at).split(';').slice(0, -1)) await read('', statement, [])
  allIndexed.delete(session)
  return true
}

/**
 * Begins a new segment if the newest is full. To be called before rows are inserted. @returns the segments to insert into
 * @param first the first position of the new rows @param most the number of rows at which a segment is full
 */
export const makeRoom = async (sender: Sender, first: bigint, count: number, most: number): Promise<Segment[]> => {
  const { read, session } = sender
  const segments = await segmentsOf(read)
  const newest = segments[0]!
  const { start } = newest
  const before = known.get(session)
  // A transaction that has begun a segment may have been rolled back, and another session may have begun one.
  const rows = before?.start === start ? before.rows : await countOf(read, newest)
  const isBegun = rows >= most && (await beginSegment(sender, newest, first))
  known.set(session, isBegun ? { start: first, rows: count } : { start, rows: rows + count })
  return isBegun ? segmentsOf(read) : segments
}

/** The oldest segment without an index, if it has all its rows. */
export const segmentToIndex = async ({ read, session }: Sender): Promise<Segment | undefined> => {
  if (allIndexed.has(session)) return undefined
  const unindexed = await read<{ start: bigint; isComplete: boolean }>('search-unindexed', unindexedStatement, [])
  if (unindexed.length === 0) allIndexed.add(session)
  const found = unindexed.find(({ isComplete }) => isComplete)
  return found && { start: found.start, level: 0 }
}

/** The most segments that are merged at once. */
const MOST_MERGED = 64

type Leveled = Pick<Segment, 'level'>

/**
 * Neighbours that together are as many segments of level 0 as one of the highest level that can be reached: so the last eighth of a level's rows are not
 * written for each level below. Undefined if no neighbours are that many.
 * @param segments the oldest first
 */
export const toMerge = <T extends Leveled>(segments: readonly T[]): { some: T[]; level: number } | undefined => {
  for (let level = HIGHEST_LEVEL; level > 0; level--)
    for (const first of segments.keys()) {
      let size = 0
      for (let i = first; i < segments.length && i < first + MOST_MERGED && segments[i]!.level < level; i++) {
        size += MERGED ** segments[i]!.level
        if (size === MERGED ** level) return { some: segments.slice(first, i + 1), level }
      }
    }
  return undefined
}
