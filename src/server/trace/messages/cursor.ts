import { z } from 'zod'
import { decodeCursor, encodeCursor, invalidCursor } from '../../http/list-page.ts'
import type { PageTrace } from './read-page.ts'
import type { Keys, MessageListRow } from './queries.ts'

type Listed = Pick<PageTrace, 'id' | 'incarnation'>

/** Where a list continues, and the revision of the trace that its first page has reported. */
type PlaceInList = { readonly after: Keys; readonly revision: bigint }

const Cursor = z.tuple([z.number().nullable(), z.number().nullable(), z.int32(), z.string(), z.int().min(0)])

const listKey = ({ id, incarnation }: Listed, time: 'present' | 'past') => `${time}/${id}/${incarnation}`

/**
 * The cursor after a message, in a list of the present or the past. It carries the revision that the first page has reported, so that all pages
 * report the same one: everything that changes between two pages has changed since that revision.
 */
export const cursorAfterMessage = (
  trace: Listed,
  time: 'present' | 'past',
  { sequence, timestamp, ordinal }: MessageListRow,
  revision: bigint,
): string => encodeCursor(sequence, timestamp, ordinal, listKey(trace, time), Number(revision))

const keysOf = ([order, timestamp, ordinal]: z.infer<typeof Cursor>): Keys => [
  order ?? Infinity,
  timestamp ?? Infinity,
  ordinal,
]

/** The keys of a cursor, even of another list; undefined if the text is not a cursor. */
export const keysOfCursor = (cursor: string | undefined): Keys | undefined => {
  const keys = cursor === undefined ? undefined : decodeCursor(cursor, Cursor)
  return keys && keysOf(keys)
}

/** @throws 400 for a cursor of another list or another trace */
export const readCursor = (
  trace: Listed,
  time: 'present' | 'past',
  cursor: string | undefined,
): PlaceInList | undefined => {
  if (cursor === undefined) return undefined
  const keys = decodeCursor(cursor, Cursor)
  if (keys?.[3] !== listKey(trace, time)) throw invalidCursor()
  return { after: keysOf(keys), revision: BigInt(keys[4]) }
}
