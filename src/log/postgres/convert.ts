import type pg from 'pg'
import { byteas, int4s, int8s, jsons, texts, uuids } from '../../postgres/arrays.ts'
import { newClient, withConnection } from '../../postgres/connect.ts'
import { continuesAppend } from '../append-collector.ts'
import type { Position, StoredRecord } from '../log.ts'
import { rowsOf } from './rows.ts'

/** How many events are converted, of how many, and milliseconds since the conversion began. */
type ConversionProgress = { readonly converted: number; readonly events: number; readonly ms: number }

type ConversionOptions = {
  readonly report?: (progress: ConversionProgress) => void
  /** How many bytes of events one transaction moves; it moves at least one event. Default 8 MiB. */
  readonly stepBytes?: number
}

const STEP_BYTES = 8 * 1024 * 1024
const STEP_EVENTS = 20_000
/** The number of steps after which the old table returns its free space to the file system, so that the disk never holds everything twice. */
const VACUUM_STEPS = 32

/** The log, or a part of it, is still in the format of an older version. */
export class NotConverted extends Error {
  override readonly name = 'NotConverted'

  constructor() {
    super('The log is in the format of an older version: start the service of this version once, which converts it.')
  }
}

const oldTables = `
  select exists (
    select from pg_class where oid in (to_regclass('log.unconverted_events'), to_regclass('log.events')) and relkind = 'r'
  ) as found`

/** For readers of a log that may not be converted: a converted part would look like a log that has lost the rest. @throws NotConverted */
export const assertConverted = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ found: boolean }>(oldTables)
  if (rows[0]!.found) throw new NotConverted()
}

const exists = "select to_regclass('log.unconverted_events') is not null as found"

const lastEvents = `
  select e.position, e.stream, e.revision, e.id, e.type, e.data, e.metadata from log.unconverted_events e where e.position >= (
    select min(w.position) from (
      select position, sum(bytes) over (order by position desc) - bytes as before
      from (select position, bytes from log.unconverted_events order by position desc limit ${STEP_EVENTS}) r
    ) w where w.before < $1
  ) order by e.position`

const insert = `
  insert into log.appends (last, stream, revision, size, ids, heads, lengths, bytes, body)
  select r.last, r.stream, r.revision, r.count, ($5::uuid[])[r.start : r.start + r.count - 1], r.heads,
    ($6::int4[])[r.start : r.start + r.count - 1], r.bytes, r.body
  from unnest($1::int8[], $2::text[], $3::int8[], $4::int4[], $7::int4[], $8::json[], $9::int4[], $10::bytea[])
    r (last, stream, revision, count, start, heads, bytes, body)`

const remove = 'delete from log.unconverted_events where position >= $1'

/** Splits events in log order where another append begins, or events were erased. */
const appendsOf = (records: readonly StoredRecord[]): StoredRecord[][] => {
  const appends: StoredRecord[][] = []
  for (const record of records) {
    const last = appends.at(-1)?.at(-1)
    if (last && record.position === last.position + 1n && continuesAppend(last, record)) appends.at(-1)!.push(record)
    else appends.push([record])
  }
  return appends
}

const store = async (client: pg.Client, records: readonly StoredRecord[]) => {
  let start = 1
  const appends = await Promise.all(appendsOf(records).map(async (append) => ({ append, rows: await rowsOf(append) })))
  const rows = appends.flatMap(({ append, rows }) => {
    let end = 0
    return rows.map((row) => {
      end += row.count
      start += row.count
      return { ...row, last: append[end - 1]!, start: start - row.count }
    })
  })
  const values = [
    int8s(rows.map(({ last }) => last.position)),
    texts(rows.map(({ last }) => last.stream)),
    int8s(rows.map(({ last }) => last.revision)),
    int4s(rows.map(({ count }) => count)),
    uuids(records.map(({ id }) => id)),
    int4s(rows.flatMap(({ lengths }) => lengths)),
    int4s(rows.map(({ start }) => start)),
    jsons(rows.map(({ heads }) => heads)),
    int4s(rows.map(({ bytes }) => bytes)),
    byteas(rows.map(({ body }) => body)),
  ]
  await client.query({ name: 'convert-insert', text: insert, values })
}

/** Converts the last events that are in the old format. Returns how many, 0 if there are none left. */
const step = async (client: pg.Client, stepBytes: number): Promise<number> => {
  await client.query('begin')
  const { rows } = await client.query<StoredRecord>({ name: 'convert-read', text: lastEvents, values: [stepBytes] })
  if (rows.length > 0) {
    await store(client, rows)
    await client.query({ name: 'convert-remove', text: remove, values: [rows[0]!.position satisfies Position] })
  } else {
    await client.query('drop table log.unconverted_events')
    await client.query('alter view log.converted_events rename to events')
  }
  await client.query('commit')
  return rows.length
}

/**
 * Converts a log of an older version to one row for each append (`migrations/0010_appends.ts`): from the end, in steps that are each
 * all or nothing, so that it continues after a kill. Nothing is appended meanwhile, because the log is opened afterwards. Several
 * processes may call it at once; one does it, the others wait.
 */
export const convertEvents = async (
  url: string,
  { report = () => {}, stepBytes = STEP_BYTES }: ConversionOptions = {},
): Promise<void> =>
  withConnection(newClient(url, 'log conversion'), async (client) => {
    const isNeeded = async () => (await client.query<{ found: boolean }>(exists)).rows[0]!.found
    if (!(await isNeeded())) return
    await client.query("select pg_advisory_lock(hashtext('tracebook log conversion'))")
    if (!(await isNeeded())) return
    const { rows } = await client.query<{ events: number }>(
      'select count(*)::float8 as events from log.unconverted_events',
    )
    const { events } = rows[0]!
    const began = performance.now()
    let converted = 0
    for (let steps = 1; ; steps++) {
      const moved = await step(client, stepBytes)
      if (moved === 0) return
      converted += moved
      if (steps % VACUUM_STEPS === 0) await client.query('vacuum log.unconverted_events')
      report({ converted, events, ms: performance.now() - began })
    }
  })
