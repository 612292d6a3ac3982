import { z } from 'zod'
import { decodeCursor, encodeCursor, invalidCursor } from '../http/list-page.ts'

/**
 * A point in the order of the index, which is read from the newest row to the oldest: the position of the event that added a row, and the
 * ordinal of the row.
 */
export type Point = { readonly seq: bigint; readonly ordinal: number }

/** The point below all rows. */
export const BOTTOM: Point = { seq: 0n, ordinal: -1 }

export const isBelow = (a: Point, b: Point): boolean => a.seq < b.seq || (a.seq === b.seq && a.ordinal < b.ordinal)

/** Where a page of results begins. */
export type PageStart = {
  /** All pages of a search show the rows that were added up to this position of the log. */
  readonly lastPosition: bigint
  /** And those that have waited in the backlog, if it had worked off so many portions at the first page. */
  readonly portions: number
  /** The page shows rows below this point. */
  readonly below: Point
  /** The end of the page's window, if an earlier page has searched the same window. */
  readonly downTo?: Point
  /** The traces that earlier pages of the same window showed, each as its `shortId`. */
  readonly shown: ReadonlySet<string>
}

/** The id of a trace in a cursor: its first 48 bits, in eight characters. */
export const shortId = (traceId: string): string =>
  Buffer.from(traceId.replaceAll('-', '').slice(0, 12), 'hex').toString('base64url')

const MAX_ORDINAL = 2 ** 31 - 1

export const firstPageStart = (lastPosition: bigint, portions: number): PageStart => ({
  lastPosition,
  portions,
  below: { seq: lastPosition, ordinal: MAX_ORDINAL },
  shown: new Set(),
})

/** Whether the first page of a search begins here. */
export const isFirst = ({ lastPosition, below }: PageStart): boolean =>
  below.seq === lastPosition && below.ordinal === MAX_ORDINAL

/**
 * Where the next page begins: with further traces of this window, with the rest of a window whose search took too long to reach its end again, or with the
 * next window. Undefined after the last page.
 * @param end down to which row the window was searched
 * @param page the ids of the traces that the page shows
 * @param hasMore whether there are others among what was searched
 */
export const nextPageStart = (
  pageStart: PageStart,
  end: Point,
  page: readonly string[],
  hasMore: boolean,
): PageStart | undefined => {
  const { lastPosition, portions, downTo = end } = pageStart
  const shown = new Set([...pageStart.shown, ...page.map(shortId)])
  if (hasMore) return { ...pageStart, downTo, shown }
  // Earlier pages have shown the best traces of the whole window, also of its rest.
  if (isBelow(downTo, end)) return { ...pageStart, below: end, downTo, shown }
  return isBelow(BOTTOM, end) ? { lastPosition, portions, below: end, shown: new Set() } : undefined
}

const Seq = z.string().regex(/^\d{1,18}$/)
const Keys = z.tuple([Seq, z.int32(), Seq, z.int32(), Seq.nullable(), z.int32(), z.string().regex(/^([\w-]{8})*$/)])

export const cursorOf = ({ lastPosition, portions, below, downTo, shown }: PageStart): string =>
  encodeCursor(
    String(lastPosition),
    portions,
    String(below.seq),
    below.ordinal,
    downTo ? String(downTo.seq) : null,
    downTo?.ordinal ?? 0,
    [...shown].join(''),
  )

/** @throws 400 for an invalid cursor */
export const pageStartIn = (cursor: string): PageStart => {
  const keys = decodeCursor(cursor, Keys)
  if (!keys) throw invalidCursor()
  const [lastPosition, portions, seq, ordinal, endSeq, endOrdinal, shown] = keys
  return {
    lastPosition: BigInt(lastPosition),
    portions,
    below: { seq: BigInt(seq), ordinal },
    ...(endSeq === null ? {} : { downTo: { seq: BigInt(endSeq), ordinal: endOrdinal } }),
    shown: new Set(shown.match(/.{8}/g)),
  }
}
