import { MERGED, type Segment, segmentName, sliceOf, sliceStarts } from '../../tables/search.ts'
import type { Point } from './cursor.ts'

/** What a statement asks at least: about 8,192 rows, a slice of a segment or all of it, from the position `from` on. */
export type Piece = { readonly segment: Segment; readonly slice: number; readonly from: bigint }

const piecesOf = (segment: Segment): Piece[] =>
  sliceStarts(segment)
    .map((from, slice) => ({ segment, slice, from }))
    .reverse()

/**
 * The pieces that have rows of a range, the newest first.
 * @param segments the newest first
 */
export const piecesIn = (
  segments: readonly Segment[],
  { below, downTo }: { readonly below: Point; readonly downTo?: Point | undefined },
): Piece[] =>
  segments.flatMap(piecesOf).filter(({ from }, i, all) => {
    const end = all[i - 1]?.from // the next newer piece begins where this one ends
    return from <= below.seq && !(downTo && end !== undefined && end <= downTo.seq)
  })

/** A table, with SQL for a condition on its rows; undefined if all of them are meant. */
export type Table = { readonly name: string; readonly isOfPieces?: string }

/** The tables that have these pieces. */
export const tablesOf = (pieces: readonly Piece[]): Table[] =>
  [...Map.groupBy(pieces, ({ segment }) => segment)].map(([segment, some]) => {
    const name = segmentName(segment)
    if (some.length === sliceStarts(segment).length) return { name }
    return { name, isOfPieces: `${sliceOf(segment)} && '{${some.map(({ slice }) => slice).join()}}'::int4[]` }
  })

/** The segments of the same level that some pieces begin with, eight at most, and those of the pieces that are in them. */
export const sameLevel = (pieces: readonly Piece[]): { segments: Segment[]; pieces: Piece[] } => {
  const level = pieces[0]!.segment.level
  const end = pieces.findIndex(({ segment }) => segment.level !== level)
  const all = end < 0 ? pieces : pieces.slice(0, end)
  const segments = [...new Set(all.map(({ segment }) => segment))].slice(0, MERGED)
  return { segments, pieces: all.filter(({ segment }) => segments.includes(segment)) }
}
