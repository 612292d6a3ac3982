import type { NewEvent, Position, Revision, StoredRecord } from '../log.ts'

/**
 * The maximum bytes of data, and events, in a row; a larger event has its own row. Each follower has a page of rows and their events in
 * memory: with larger rows a few followers that are behind would take 100 MB.
 */
export const ROW_BYTES = 2 * 1024 * 1024
export const ROW_EVENTS = 1_000

/** A query for the id of the event at a position, which is a parameter: null if the event was erased, no row beyond the log's end. */
export const idAt = (position: string): string => `
  select ids[${position} - last + size] as id
  from (select last, size, ids from log.appends where last >= ${position} order by last limit 1) a`

/**
 * Consecutive events whose metadata differ only in a number that counts up: how many events, their type, the metadata before the
 * number, the number of the first event, and the metadata after it. Without a number the text before it is the whole metadata.
 */
export type Run = [count: number, type: string, before: string, first: number | null, after: string]

/** A row to be stored. Its data are those of its events. */
export type NewRow = {
  readonly events: readonly NewEvent[]
  readonly heads: string
  readonly lengths: readonly number[]
  /** The size of all data. */
  readonly bytes: number
}

const NUMBER = /^(?:0|[1-9]\d{0,8})(?!\d)/
const INDEX = '"index":'

/** The run of one event. At the end of metadata is the index of the event in its append, or of a chunk in its event. */
const runOf = ({ type, metadata }: NewEvent): Run => {
  const start = metadata.lastIndexOf(INDEX) + INDEX.length
  const number = start < INDEX.length ? undefined : NUMBER.exec(metadata.slice(start, start + 10))?.[0]
  if (number === undefined) return [1, type, metadata, null, '']
  return [1, type, metadata.slice(0, start), Number(number), metadata.slice(start + number.length)]
}

/** The metadata of an event by its index in the run. */
export const metadataAt = ([, , before, first, after]: Run, index: number): string =>
  first === null ? before : `${before}${first + index}${after}`

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

/** Splits an append into rows. */
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

/** A row as it is read: arrays as text from PostgreSQL, data decoded. */
export type StoredRow = {
  readonly last: Position
  readonly stream: string
  readonly revision: Revision
  readonly ids: string
  readonly heads: string
  readonly lengths: string
  readonly data: string
}

/** The elements of an array whose elements need no quotes. */
const elementsOf = (array: string): string[] => array.slice(1, -1).split(',')

/** Splits the data of a row into those of its events, whose lengths are in bytes. */
const dataOf = (data: string, lengths: readonly number[]): string[] => {
  const source = data.length === sum(lengths) ? data : Buffer.from(data)
  let end = 0
  return lengths.map((length) => {
    end += length
    return typeof source === 'string' ? source.slice(end - length, end) : source.toString('utf8', end - length, end)
  })
}

/** The heads of a row after its first `count` events were removed. */
export const headsWithoutFirst = (heads: string, count: number): string => {
  let left = count
  const runs = (JSON.parse(heads) as Run[]).flatMap(([size, type, before, first, after]): Run[] => {
    const skipped = Math.min(size, left)
    left -= skipped
    return skipped === size ? [] : [[size - skipped, type, before, first === null ? null : first + skipped, after]]
  })
  return JSON.stringify(runs)
}

/** The type and the metadata of an event by its index in the row. */
export const headAt = (heads: string, index: number): Pick<NewEvent, 'type' | 'metadata'> => {
  let left = index
  for (const run of JSON.parse(heads) as Run[]) {
    if (left < run[0]) return { type: run[1], metadata: metadataAt(run, left) }
    left -= run[0]
  }
  throw new RangeError(`the row has heads of ${index - left} events, but an event with index ${index} was asked for`)
}

/** The type and the metadata of each event of a row. */
export const headsOf = (heads: string): Pick<NewEvent, 'type' | 'metadata'>[] =>
  (JSON.parse(heads) as Run[]).flatMap((run) =>
    Array.from({ length: run[0] }, (_, index) => ({ type: run[1], metadata: metadataAt(run, index) })),
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
