import type { ReadRows, Sender } from '../../src/eventstore/engine/projection.ts'
import { createSegment, segmentName, segmentsStatement, startsOf, unindexedStatement } from '../../src/tables/search.ts'

/** The first positions of all segments, the newest first. */
export const segmentsOf = async (read: ReadRows): Promise<bigint[]> => {
  const found = await read<{ name: string }>('search-segments', segmentsStatement, [])
  return startsOf(found.map(({ name }) => name))
}

/** The segment of a position. */
export const segmentAt = (segments: readonly bigint[], position: bigint): bigint =>
  segments.find((start) => start <= position)!

/** The newest segment that each database session knows, and the approximate number of its rows, with those that still wait. */
const known = new WeakMap<object, { readonly start: bigint; readonly rows: number }>()

/** The database sessions that know that all segments but the newest have their index. */
const allIndexed = new WeakSet<object>()

const countOf = async (read: ReadRows, start: bigint): Promise<number> => {
  const waiting = 'select count(*) from search_backlog where is_new and position >= $1'
  const statement = `select (select count(*) from ${segmentName(start)}) + (${waiting}) as count`
  const [row] = await read<{ count: bigint }>('', statement, [start])
  return Number(row!.count)
}

/** Begins a new segment at a position. Does nothing if the newest already has later rows, as in the replay of a stream. */
const beginSegment = async ({ read, session }: Sender, newest: bigint, at: bigint): Promise<boolean> => {
  const [row] = await read<{ last: bigint | null }>('', `select max(seq) as last from ${segmentName(newest)}`, [])
  if (at <= newest || (row!.last ?? 0n) >= at) return false
  for (const statement of createSegment(at).trim().split(';').slice(0, -1)) await read('', statement, [])
  allIndexed.delete(session)
  return true
}

/**
 * Begins a new segment if the newest is full. To be called before rows are inserted. @returns the segments to insert into
 * @param first the first position of the new rows @param most the number of rows at which a segment is full
 */
export const makeRoom = async (sender: Sender, first: bigint, count: number, most: number): Promise<bigint[]> => {
  const { read, session } = sender
  const segments = await segmentsOf(read)
  const [start] = segments as [bigint]
  const before = known.get(session)
  // A transaction that has begun a segment may have been rolled back, and another session may have begun one.
  const rows = before?.start === start ? before.rows : await countOf(read, start)
  const isBegun = rows >= most && (await beginSegment(sender, start, first))
  known.set(session, isBegun ? { start: first, rows: count } : { start, rows: rows + count })
  return isBegun ? [first, ...segments] : segments
}

/** The oldest segment without an index, if it has all its rows. */
export const segmentToIndex = async ({ read, session }: Sender): Promise<bigint | undefined> => {
  if (allIndexed.has(session)) return undefined
  const unindexed = await read<{ start: bigint; isComplete: boolean }>('search-unindexed', unindexedStatement, [])
  if (unindexed.length === 0) allIndexed.add(session)
  return unindexed.find(({ isComplete }) => isComplete)?.start
}
