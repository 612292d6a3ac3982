import type { NewEvent, Position, Revision, StoredRecord } from '../log.ts'
import { type Body, decompressed, newBody } from './body.ts'

/** The maximum bytes of data in a row; a larger event has a row of its own. Few, because to read one event its whole row is decompressed. */
export const ROW_BYTES = 128 * 1024
/** The maximum number of events in a row. */
export const ROW_EVENTS = 1_000

/** A query for the id of the event at a position, given as a placeholder: null if the event was erased, no row beyond the log's end. */
export const idAt = (placeholder: string): string => `
  select ids[${placeholder} - last + size] as id
  from (select last, size, ids from log.appends where last >= ${placeholder} order by last limit 1) a`

/**
 * Consecutive events whose metadata differ only in a number that counts up: how many events, their type, the metadata before the
 * number, the number of the first event, and the metadata after it. Without a number the text before it is the whole metadata.
 */
type Run = [count: number, type: string, before: string, first: number | null, after: string]

/** A row to be stored, of so many events. */
export type NewRow = Body & { readonly count: number; readonly heads: string; readonly lengths: readonly number[] }

const NUMBER = /^(?:0|[1-9]\d{0,8})(?!\d)/
const INDEX = '"index":'

/** The run of one event. At the end of metadata is the index of the event in its append, or of a chunk in its event. */
const runOf = ({ type, metadata }: NewEvent): Run => {
  const found = metadata.lastIndexOf(INDEX)
  const start = found + INDEX.length
  const number = found === -1 ? undefined : NUMBER.exec(metadata.slice(start, start + 10))?.[0]
  if (number === undefined) return [1, type, metadata, null, '']
  return [1, type, metadata.slice(0, start), Number(number), metadata.slice(start + number.length)]
}

/** The metadata of an event by its index in the run. */
const metadataAt = ([, , before, first, after]: Run, index: number): string =>
  first === null ? before : `${before}${first + index}${after}`

const runsOf = (events: readonly NewEvent[]): Run[] => {
  const runs: Run[] = []
  for (const event of events) {
    const last = runs.at(-1)
    const [count, type] = last ?? []
    const isNext = last && type === event.type && metadataAt(last, count!) === event.metadata
    if (isNext) last[0] += 1
    else runs.push(runOf(event))
  }
  return runs
}

const sum = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

const bytesOf = (events: readonly NewEvent[]) => events.map(({ data }) => Buffer.byteLength(data))

/** A row of these events; a promise if it is compressed on a thread. */
export const newRow = (events: readonly NewEvent[], lengths = bytesOf(events)): NewRow | Promise<NewRow> => {
  const heads = JSON.stringify(runsOf(events))
  const withBody = (body: Body): NewRow => ({ count: events.length, heads, lengths, ...body })
  const texts = events.map(({ data }) => data)
  const body = newBody(texts, sum(lengths))
  return body instanceof Promise ? body.then(withBody) : withBody(body)
}

const isMade = (row: NewRow | Promise<NewRow>): row is NewRow => !(row instanceof Promise)

/** Splits an append into rows. Returns a promise only if one of the rows is a promise: for small appends promises would take half of the time. */
export const rowsOf = (events: readonly NewEvent[]): readonly NewRow[] | Promise<readonly NewRow[]> => {
  const rows: (NewRow | Promise<NewRow>)[] = []
  const lengths = bytesOf(events)
  let [from, bytes] = [0, 0]
  const end = (to: number) => {
    rows.push(newRow(events.slice(from, to), lengths.slice(from, to)))
    ;[from, bytes] = [to, 0]
  }
  for (const [i, length] of lengths.entries()) {
    if (i > from && (bytes + length > ROW_BYTES || i - from === ROW_EVENTS)) end(i)
    bytes += length
  }
  end(events.length)
  const made = rows.filter(isMade)
  return made.length === rows.length ? made : Promise.all(rows.map(async (row) => row))
}

/** The columns of `StoredRow`, of a row `a`. */
export const storedColumns = `
  a.last, a.stream, a.revision, a.ids::text, a.heads, a.lengths::text, a.bytes,
  case when a.bytes is null then convert_from(a.body, 'UTF8') end as data, case when a.bytes is not null then a.body end as body`

/** A row as it is read: arrays as text from PostgreSQL, data decoded unless they are compressed. */
export type StoredRow = {
  readonly last: Position
  readonly stream: string
  readonly revision: Revision
  readonly ids: string
  readonly heads: string
  readonly lengths: string
} & StoredBody

/** A body as it is read. */
export type StoredBody =
  | { readonly bytes: null; readonly data: string; readonly body: null }
  | { readonly bytes: number; readonly data: null; readonly body: Buffer }

/** The elements of an array whose elements need no quotes. */
const elementsOf = (array: string): string[] => array.slice(1, -1).split(',')

/** Splits the data of a row into those of its events, whose lengths are in bytes. */
const dataOf = (data: string | Buffer, lengths: readonly number[]): string[] => {
  // If the text has as many characters as bytes, it is ASCII, and can be cut by bytes as it is.
  const source = typeof data === 'string' && data.length !== sum(lengths) ? Buffer.from(data) : data
  let end = 0
  return lengths.map((length) => {
    end += length
    return typeof source === 'string' ? source.slice(end - length, end) : source.toString('utf8', end - length, end)
  })
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

/** The events of a row. @throws DamagedRow */
export const recordsOf = (row: StoredRow): StoredRecord[] => {
  const whole = row.bytes === null ? row.data : decompressed(row.body, row.bytes, row.last)
  const data = dataOf(whole, elementsOf(row.lengths).map(Number))
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
