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

/** The server executed an append after its time: nothing of it is stored. */
export class TooLate extends Error {
  override readonly name = 'TooLate'
}

// The data are the last parameter: the client's buffer is as large as them, and anything after them would copy it all.
const statement = `
  select stored, fresh, revision, at as position from log.append_rows($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// Compares the clock once it has the lock that `log.append_rows` takes and waits for. Each step depends on the one before, because
// the planner could change their order.
const timedStatement = `
  select a.stored, a.fresh, a.revision, a.at as position
  from (select pg_advisory_xact_lock(hashtext('tracebook log append')) is not null as is_held offset 0) turn
  cross join lateral (
    select $1::text[] as streams where turn.is_held and clock_timestamp() <= $13::text::timestamptz offset 0
  ) in_time
  cross join lateral log.append_rows(in_time.streams, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) a`

/** The server's time this many milliseconds from now, or a little earlier. */
const serverTime = async (client: pg.Client, ms: number): Promise<string> => {
  const text = `select (clock_timestamp() + $1::float8 * interval '1 ms')::text as time`
  return (await client.query<{ time: string }>({ name: 'append-time', text, values: [ms] })).rows[0]!.time
}

const send = async (client: pg.Client, values: readonly unknown[], until: number | undefined): Promise<Row[]> => {
  if (until === undefined)
    return (await client.query<Row>({ name: 'append', text: statement, values: [...values] })).rows
  const time = await serverTime(client, until - performance.now())
  const query = { name: 'append-timed', text: timedStatement, values: [...values, time] }
  const { rows } = await client.query<Row>(query)
  if (rows.length === 0) throw new TooLate()
  return rows
}

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
 * The function throws TooLate for an append whose time has passed.
 */
export const prepareAppend = (batch: readonly EncodedAppend[]) => {
  const values = parameters(batch)
  return async (client: pg.Client): Promise<BatchResult> => {
    const rows = await send(client, values, batch[0]?.append.until)
    return {
      answers: batch.map(({ append }, i) => toAnswer(append, rows[i]!)),
      newEvents: batch.flatMap(({ append }, i) => (rows[i]!.fresh ? recordsOf(append, rows[i]!) : [])),
    }
  }
}
