import { z } from 'zod'
import { invalid } from '../../http/http-error.ts'
import { decodeCursor, encodeCursor } from '../../http/list-page.ts'
import type { PageTrace } from './read-page.ts'
import type { Keys, MessageListRow } from './queries.ts'

type Listed = Pick<PageTrace, 'id' | 'incarnation'>

/** Where a list goes on, and the revision of the trace that its first page has told. */
export type PlaceInList = { readonly behind: Keys; readonly revision: bigint }

const Cursor = z.tuple([z.number().nullable(), z.number().nullable(), z.int32(), z.string(), z.int().min(0)])

const listKey = ({ id, incarnation }: Listed, time: 'present' | 'past') => `${time}/${id}/${incarnation}`

/**
 * The cursor behind a message of a list of the present or the past. It carries the revision that the first page has told, so that
 * all pages tell the same one: whatever changes between two of them has changed since that revision.
 */
export const cursorBehind = (
  trace: Listed,
  time: 'present' | 'past',
  { sequence, timestamp, ordinal }: MessageListRow,
  revision: bigint,
): string => encodeCursor(sequence, timestamp, ordinal, listKey(trace, time), Number(revision))

const behindOf = ([order, timestamp, ordinal]: z.infer<typeof Cursor>): Keys => [
  order ?? Infinity,
  timestamp ?? Infinity,
  ordinal,
]

/** The keys of a cursor, which may be of another list; undefined for what is none. */
export const keysOfCursor = (cursor: string | undefined): Keys | undefined => {
  const keys = cursor === undefined ? undefined : decodeCursor(cursor, Cursor)
  return keys && behindOf(keys)
}

/** @throws 400 for a cursor that is of no such list of this trace */
export const readCursor = (
  trace: Listed,
  time: 'present' | 'past',
  cursor: string | undefined,
): PlaceInList | undefined => {
  if (cursor === undefined) return undefined
  const keys = decodeCursor(cursor, Cursor)
  if (keys?.[3] !== listKey(trace, time)) throw invalid('cursor', 'is not a cursor of this list')
  return { behind: behindOf(keys), revision: BigInt(keys[4]) }
}
