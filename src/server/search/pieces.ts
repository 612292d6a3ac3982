import { type Segment, segmentName, sliceOf, sliceStarts } from '../../tables/search.ts'
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

/** The tables that have these pieces, each with SQL for a condition on its rows; undefined if all of them are meant. */
export const tablesOf = (pieces: readonly Piece[]): { readonly name: string; readonly isOfPieces?: string }[] =>
  [...Map.groupBy(pieces, ({ segment }) => segment)].map(([segment, some]) => {
    const name = segmentName(segment)
    if (some.length === sliceStarts(segment).length) return { name }
    return { name, isOfPieces: `${sliceOf(segment)} && '{${some.map(({ slice }) => slice).join()}}'::int4[]` }
  })
