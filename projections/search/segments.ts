import type { ReadRows, Sender } from '../../src/engine/projection.ts'
import { createSegment, indexSegment, segmentName, segmentsStatement, startsOf } from './tables.ts'

/** The segments, and about how many rows the newest has. */
export type Segments = {
  /** Where they begin, the newest first. */
  readonly starts: readonly bigint[]
  rows: number
}

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

/** Ends the newest segment before a position, and begins another there; not if it has rows behind that, as when a stream is replayed. */
const end = async ({ read, session }: Sender, segments: Segments, at: bigint): Promise<Segments> => {
  const [newest] = segments.starts as [bigint]
  const [row] = await read<{ last: bigint | null }>('', `select max(seq) as last from ${segmentName(newest)}`, [])
  if (at <= newest || (row!.last ?? 0n) >= at) return segments
  for (const statement of [indexSegment(newest), ...createSegment(at).trim().split(';').slice(0, -1)])
    await read('', statement, [])
  return remember(session, [at, ...segments.starts], 0)
}

/** Before rows are inserted, so many, the first of them at a position: the segments, of which the newest has less than `most` rows. */
export const makeRoom = async (sender: Sender, first: bigint, count: number, most: number): Promise<Segments> => {
  let segments = await segmentsOf(sender)
  if (segments.rows >= most) segments = await end(sender, segments, first)
  segments.rows += count
  return segments
}

/** The segment of a position. */
export const segmentAt = ({ starts }: Segments, position: bigint): bigint => starts.find((start) => start <= position)!
