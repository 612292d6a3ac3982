import { type Json, millisecondsOf } from './json.ts'
import type { ObjectLine, OnDamaged, Place } from './lines.ts'

/** One of the files of a session, of which the first `size` bytes are read. */
export type Part = { readonly path: string; readonly size: number }
/** All files of a session, of which one suffices. */
export type Parts = readonly [Part, ...Part[]]

/** The lines of a file from the place `at` on, which moves with them, in parts (`linesInParts`). */
export type ReadLines = (
  path: string,
  size: number,
  onDamaged: OnDamaged,
  at: Place,
) => AsyncIterable<Iterable<ObjectLine>>

/** What an agent writes into each record by which those of several files are put in order. The time is that in `timestamp`. */
export type Sequence = {
  /** The number that the agent gives the records of a session, one after the other. Where two files have the same one, their times count. */
  readonly ordinalOf?: (json: Json) => number | undefined
  /** An id that a copy of the record in another file has, too. Without one, a copy has the same text. */
  readonly idOf?: (json: Json) => string | undefined
  /** Whether a file goes on with a session that another one begins: it is numbered by the ordinals also where that one is missing. */
  readonly continues?: (path: string) => boolean
  /** The folder that a record says its file was begun in: the rules of its project hold, too. */
  readonly folderOf?: (json: Json, path: string) => string | undefined | Promise<string | undefined>
}

/** When a record was written: its time in milliseconds, and its number among the records of the session, if its agent gives them some. */
export type Moment = { readonly time: number; readonly ordinal: number | undefined }

/** Of the records of a file without times. */
export const NEVER: Moment = { time: Infinity, ordinal: undefined }
/** No time is later. */
const END = 1e16
/** Of the records behind the last one of a file that has a time: behind those of all other files. */
export const behindAll = ({ time }: Moment): Moment => ({ time: time >= END ? time : END + time, ordinal: undefined })

/**
 * When a record was written; undefined if it has neither a time nor an ordinal. It is not before `earlier`, the moment of the record before in its file,
 * so that the records of a file keep their order.
 */
export const momentOf = ({ ordinalOf }: Sequence, json: Json, earlier: Moment): Moment | undefined => {
  const time = millisecondsOf(json['timestamp'])
  const ordinal = ordinalOf?.(json)
  if (time === undefined && ordinal === undefined) return undefined
  const earliest = earlier.time >= END ? -Infinity : earlier.time
  return { time: Math.max(time ?? -Infinity, earliest), ordinal: ordinal ?? earlier.ordinal }
}
