import type pg from 'pg'
import { byteas, int4s, int8s, jsons, texts, uuids } from '../../postgres/arrays.ts'
import { type Appended, type StoredRecord, WrongRevision, expectedOf } from '../log.ts'
import type { Append } from './pending-append.ts'
import type { NewRow } from './rows.ts'

/** An append and its rows. */
export type EncodedAppend = { readonly append: Append; readonly rows: readonly NewRow[] }

/** The answer to one append. */
type Row = {
  stored: boolean
  /** Whether this statement stored it, not an earlier one whose answer was lost. */
  fresh: boolean
  /** The revision of the last event if it was stored, otherwise the stream's current one. */
  revision: bigint
  /** The position of the last event; null if it was not stored. */
  position: bigint | null
}

/** The result of a statement: an answer to each append, and the new events of the log, in order and without gaps. */
export type BatchResult = { readonly answers: (Appended | WrongRevision)[]; readonly newEvents: StoredRecord[] }

// The data are the last parameter: the client's buffer is as large as them, and anything after them would copy it all.
const statement = `
  select stored, fresh, revision, at as position from log.append_rows($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

/** The parameters of `log.append_rows`, in their order. */
const parameters = (batch: readonly EncodedAppend[]) => {
  let start = 1
  const rows = batch.flatMap(({ rows }, i) => {
    let end = 0
    return rows.map((row) => {
      start += row.count
      end += row.count
      return { ...row, append: i + 1, end, start: start - row.count }
    })
  })
  return [
    texts(batch.map(({ append }) => append.stream)),
    int8s(batch.map(({ append }) => append.expected)),
    int4s(batch.map(({ append }) => append.events.length)),
    int4s(rows.map((row) => row.append)),
    int4s(rows.map((row) => row.count)),
    int4s(rows.map((row) => row.end)),
    int4s(rows.map((row) => row.start)),
    jsons(rows.map((row) => row.heads)),
    uuids(batch.flatMap(({ append }) => append.events.map((event) => event.id))),
    int4s(rows.flatMap((row) => row.lengths)),
    int4s(rows.map((row) => row.bytes)),
    byteas(rows.map((row) => row.body)),
  ]
}

const recordsOf = ({ stream, events }: Append, { revision, position }: Row): StoredRecord[] =>
  events.map((event, i) => {
    const fromLast = BigInt(events.length - 1 - i)
    return { ...event, stream, revision: revision - fromLast, position: position! - fromLast }
  })

const toAnswer = ({ stream }: Append, { stored, revision, position }: Row) =>
  stored ? { revision, position: position! } : new WrongRevision(stream, expectedOf(revision))

/**
 * Prepares the statement that appends a batch; the returned function sends it. An append that an earlier attempt has stored
 * is answered, but is not among the new events: the stored data may differ from that of the batch.
 */
export const prepareAppend = (batch: readonly EncodedAppend[]) => {
  const values = parameters(batch)
  return async (client: pg.Client): Promise<BatchResult> => {
    const { rows } = await client.query<Row>({ name: 'append', text: statement, values })
    return {
      answers: batch.map(({ append }, i) => toAnswer(append, rows[i]!)),
      newEvents: batch.flatMap(({ append }, i) => (rows[i]!.fresh ? recordsOf(append, rows[i]!) : [])),
    }
  }
}
