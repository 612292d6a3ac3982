import type { ReadRows, Sender } from '../../src/engine/projection.ts'
import { createSegment, indexSegment, segmentName, segmentsStatement, startsOf } from './tables.ts'

/** The segments, and the approximate number of rows in the newest. */
export type Segments = {
  /** Their first positions, the newest first. */
  readonly starts: readonly bigint[]
  rows: number
}

/** The segments that each database session knows. */
const known = new WeakMap<object, Segments>()

const remember = (session: object, starts: readonly bigint[], rows: number): Segments => {
  const segments = { starts, rows }
  known.set(session, segments)
  return segments
}

const segmentsOf = async ({ read, session }: Sender): Promise<Segments> => {
  const found = await read<{ name: string }>('search-segments', segmentsStatement, [])
  const starts = startsOf(found.map(({ name }) => name))
  const before = known.get(session)
  // A transaction that has begun a segment may have been rolled back, and another session may have begun one.
  if (before && before.starts[0] === starts[0]) return before
  return remember(session, starts, await countOf(read, starts[0]!))
}

const countOf = async (read: ReadRows, start: bigint): Promise<number> => {
  const [row] = await read<{ count: bigint }>('', `select count(*) from ${segmentName(start)}`, [])
  return Number(row!.count)
}

/** Begins a new segment at a position, and indexes the one before. Does nothing if that already has later rows, as in the replay of a stream. */
const beginSegment = async ({ read, session }: Sender, segments: Segments, at: bigint): Promise<Segments> => {
  const [newest] = segments.starts as [bigint]
  const [row] = await read<{ last: bigint | null }>('', `select max(seq) as last from ${segmentName(newest)}`, [])
  if (at <= newest || (row!.last ?? 0n) >= at) return segments
  for (const statement of [indexSegment(newest), ...createSegment(at).trim().split(';').slice(0, -1)])
    await read('', statement, [])
  return remember(session, [at, ...segments.starts], 0)
}

/**
 * Begins a new segment if the newest is full. To be called before rows are inserted. @returns the segments to insert into
 * @param first the first position of the new rows @param most the number of rows at which a segment is full
 */
export const makeRoom = async (sender: Sender, first: bigint, count: number, most: number): Promise<Segments> => {
  let segments = await segmentsOf(sender)
  if (segments.rows >= most) segments = await beginSegment(sender, segments, first)
  segments.rows += count
  return segments
}

/** The segment of a position. */
export const segmentAt = ({ starts }: Segments, position: bigint): bigint => starts.find((start) => start <= position)!
