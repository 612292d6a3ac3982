import type { NewEvent, Position, Revision, StoredRecord } from '../log.ts'

/**
 * How many bytes of data, and how many events, one row has at most; an event that is larger is a row of its own. Each follower
 * holds a page of rows, and what it makes of it: with larger ones a few that are behind take 100 MB together.
 */
export const ROW_BYTES = 2 * 1024 * 1024
export const ROW_EVENTS = 1_000

/**
 * Events one behind the other whose metadata differ in one number, which counts up: how many there are, their type, the text before
 * the number, the number of the first event, the text behind it. Without a number the first text is the whole one.
 */
export type Run = [count: number, type: string, before: string, first: number | null, after: string]

/** A row that is to be stored; its data follow from its events. */
export type NewRow = {
  readonly events: readonly NewEvent[]
  readonly heads: string
  readonly lengths: readonly number[]
  /** Of all data. */
  readonly bytes: number
}

const NUMBER = /^(?:0|[1-9]\d{0,8})(?!\d)/
const INDEX = '"index":'

/** The run of one event. Metadata end with the place of the event in its append, or the place of a chunk in its event. */
const runOf = ({ type, metadata }: NewEvent): Run => {
  const start = metadata.lastIndexOf(INDEX) + INDEX.length
  const number = start < INDEX.length ? undefined : NUMBER.exec(metadata.slice(start, start + 10))?.[0]
  if (number === undefined) return [1, type, metadata, null, '']
  return [1, type, metadata.slice(0, start), Number(number), metadata.slice(start + number.length)]
}

/** The metadata of the event at a place of a run, from 0. */
export const metadataAt = ([, , before, first, after]: Run, place: number): string =>
  first === null ? before : `${before}${first + place}${after}`

const runsOf = (events: readonly NewEvent[]): Run[] => {
  const runs: Run[] = []
  for (const event of events) {
    const last = runs.at(-1)
    if (last && last[1] === event.type && metadataAt(last, last[0]) === event.metadata) last[0] += 1
    else runs.push(runOf(event))
  }
  return runs
}

const sum = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

const newRow = (events: readonly NewEvent[], lengths: readonly number[]): NewRow => ({
  events,
  heads: JSON.stringify(runsOf(events)),
  lengths,
  bytes: sum(lengths),
})

/** Cuts an append into rows. */
export const rowsOf = (events: readonly NewEvent[]): NewRow[] => {
  const rows: NewRow[] = []
  const lengths = events.map(({ data }) => Buffer.byteLength(data))
  let [from, bytes] = [0, 0]
  for (const [i, length] of lengths.entries()) {
    if (i > from && (bytes + length > ROW_BYTES || i - from === ROW_EVENTS)) {
      rows.push(newRow(events.slice(from, i), lengths.slice(from, i)))
      ;[from, bytes] = [i, 0]
    }
    bytes += length
  }
  rows.push(from === 0 ? newRow(events, lengths) : newRow(events.slice(from), lengths.slice(from)))
  return rows
}

/** A row as it is read: its arrays as PostgreSQL writes them, its data decoded. */
export type StoredRow = {
  readonly last: Position
  readonly stream: string
  readonly revision: Revision
  readonly ids: string
  readonly heads: string
  readonly lengths: string
  readonly data: string
}

/** The elements of an array that have no need of quotes. */
const elementsOf = (array: string): string[] => array.slice(1, -1).split(',')

/** Cuts the text of a row where its events end, which is told in bytes. */
const dataOf = (data: string, lengths: readonly number[]): string[] => {
  const source = data.length === sum(lengths) ? data : Buffer.from(data)
  let end = 0
  return lengths.map((length) => {
    end += length
    return typeof source === 'string' ? source.slice(end - length, end) : source.toString('utf8', end - length, end)
  })
}

/** The heads of a row without its first events. */
export const headsWithoutFirst = (heads: string, count: number): string => {
  let left = count
  const runs = (JSON.parse(heads) as Run[]).flatMap(([size, type, before, first, after]): Run[] => {
    const skipped = Math.min(size, left)
    left -= skipped
    return skipped === size ? [] : [[size - skipped, type, before, first === null ? null : first + skipped, after]]
  })
  return JSON.stringify(runs)
}

/** The type and the metadata of the event at a place of a row, from 0. */
export const headAt = (heads: string, place: number): Pick<NewEvent, 'type' | 'metadata'> => {
  let left = place
  for (const run of JSON.parse(heads) as Run[]) {
    if (left < run[0]) return { type: run[1], metadata: metadataAt(run, left) }
    left -= run[0]
  }
  throw new RangeError(`a row has ${place - left} heads, and an event at ${place}`)
}

/** The type and the metadata of each event of a row. */
export const headsOf = (heads: string): Pick<NewEvent, 'type' | 'metadata'>[] =>
  (JSON.parse(heads) as Run[]).flatMap((run) =>
    Array.from({ length: run[0] }, (_, place) => ({ type: run[1], metadata: metadataAt(run, place) })),
  )

/** The events of a row. */
export const recordsOf = (row: StoredRow): StoredRecord[] => {
  const data = dataOf(row.data, elementsOf(row.lengths).map(Number))
  const heads = headsOf(row.heads)
  const ids = elementsOf(row.ids)
  return ids.map((id, i) => {
    const fromLast = BigInt(ids.length - 1 - i)
    return {
      id,
      stream: row.stream,
      revision: row.revision - fromLast,
      position: row.last - fromLast,
      ...heads[i]!,
      data: data[i]!,
    }
  })
}
