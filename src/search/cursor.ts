import { z } from 'zod'
import { invalid } from '../http/http-error.ts'
import { decodeCursor, encodeCursor } from '../http/list-page.ts'

/** A place in the index, which is read from the newest rows to the oldest: the position of the event that added a row, and its ordinal. */
export type Point = { readonly seq: bigint; readonly ordinal: number }

/** Below all rows. */
export const BOTTOM: Point = { seq: 0n, ordinal: -1 }

export const isBelow = (a: Point, b: Point): boolean => a.seq < b.seq || (a.seq === b.seq && a.ordinal < b.ordinal)

/**
 * Where a page goes on. All pages are of what was there at `start`. The rows below `from`, down to `to` if that is known, are looked at;
 * of the traces found there some have been shown (`nameOf`).
 */
export type Place = {
  readonly start: bigint
  readonly from: Point
  readonly to?: Point
  readonly shown: ReadonlySet<string>
}

/** A trace in a cursor: the first 48 bits of its id, in eight characters. */
export const nameOf = (traceId: string): string =>
  Buffer.from(traceId.replaceAll('-', '').slice(0, 12), 'hex').toString('base64url')

const MAX_ORDINAL = 2 ** 31 - 1

export const firstPlace = (start: bigint): Place => ({
  start,
  from: { seq: start, ordinal: MAX_ORDINAL },
  shown: new Set(),
})

export const isFirst = ({ start, from }: Place): boolean => from.seq === start && from.ordinal === MAX_ORDINAL

const Seq = z.string().regex(/^\d{1,18}$/)
const Keys = z.tuple([Seq, Seq, z.int32(), Seq.nullable(), z.int32(), z.string().regex(/^([\w-]{8})*$/)])

export const cursorOf = ({ start, from, to, shown }: Place): string =>
  encodeCursor(
    String(start),
    String(from.seq),
    from.ordinal,
    to ? String(to.seq) : null,
    to?.ordinal ?? 0,
    [...shown].join(''),
  )

/** @throws 400 for an invalid cursor */
export const placeIn = (cursor: string): Place => {
  const keys = decodeCursor(cursor, Keys)
  if (!keys) throw invalid('cursor', 'is not a cursor of a search: use the nextCursor of the previous page')
  const [start, seq, ordinal, toSeq, toOrdinal, shown] = keys
  const to = toSeq === null ? {} : { to: { seq: BigInt(toSeq), ordinal: toOrdinal } }
  return { start: BigInt(start), from: { seq: BigInt(seq), ordinal }, ...to, shown: new Set(shown.match(/.{8}/g)) }
}
