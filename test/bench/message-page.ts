import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { type ReadTables, readModels } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'
import type { Reads } from '../../src/engine/reads.ts'
import { newPool } from '../../src/postgres/connect.ts'
import { WHOLE_WEIGHT, messagePages } from '../../src/trace/message-pages.ts'
import { type MessageListRow, columns, messageCursor, messageValues } from '../../src/trace/message-queries.ts'
import { messages } from './corpus.ts'
import { rate } from './http.ts'
import type { World } from './world.ts'

type Measured = { value: number; yardstick: number }

const COUNT = 50_000
const LIMIT = 50
const WORKERS = 4

type Place = { readonly from: number; readonly cursor: string | undefined }

/** A trace of 50,000 messages, as the service takes it in; gives its id. */
const fillTrace = async (world: World): Promise<string> => {
  const { authorization } = await world.signIn('message-page')
  const path = `/v1/traces/${randomUUID()}`
  const { text } = await world.call('PUT', path, authorization, {})
  for (let from = 0; from < COUNT; from += 200) {
    const body = { messages: messages(200, from) }
    const { status } = await world.call('POST', `${path}/messages/batch`, authorization, body)
    if (status !== 200) throw new Error(`batch: ${status}`)
  }
  return (JSON.parse(text) as { data: { trace: { id: string } } }).data.trace.id
}

/** The cursor that a page gives which ends with a message of the corpus. */
const cursorBehind = (id: string, ordinal: number): string => {
  const { order, timestamp } = messages(1, ordinal)[0] as { order: number; timestamp: number }
  return messageCursor(id, 0n, { ordinal, sequence: order, timestamp } as MessageListRow)
}

/** The first page, the one in the middle and the last. */
const placesOf = (id: string): Place[] =>
  [0, COUNT / 2, COUNT - LIMIT].map((from) => ({ from, cursor: from === 0 ? undefined : cursorBehind(id, from - 1) }))

/** Pages a second as the service reads them. */
const pages = (pool: pg.Pool, id: string, { cursor }: Place, ms: number): Promise<number> => {
  const rows: Reads<ReadTables>['rows'] = async (name, text, values = []) =>
    (await pool.query({ name, text, values: [...values] })).rows
  const values = messageValues(id, 0n, LIMIT + 1, cursor)
  const wanted = { incarnation: 0n, bytes: WHOLE_WEIGHT + 1, includeParts: false, values, chosen: 'all' as const }
  return rate(WORKERS, ms, async () => {
    const list = messagePages({ rows }, wanted)
    for (let page = await list.next(); !page.done; page = await list.next());
    return 1
  })
}

const keyStatement = `
  select ${columns} from messages m where trace_id = $1 and incarnation = 0 and ordinal >= $2 order by ordinal limit $3`

/** The same messages by their primary key. */
const byKey = (pool: pg.Pool, id: string, { from }: Place, ms: number): Promise<number> =>
  rate(WORKERS, ms, async () => {
    await pool.query({ name: 'by-key', text: keyStatement, values: [id, from, LIMIT + 1] })
    return 1
  })

/**
 * What the database is asked for a page, and the same messages by primary key, each so many times a second: of the first
 * page, the one in the middle and the last that which compares worst.
 */
export const messagePage = async ({ world, ms }: { world: World; ms: number }): Promise<Measured> => {
  const id = await fillTrace(world)
  const pool = newPool(world.databaseUrl, 'yardstick', WORKERS, 30_000, schemaOf(readModels))
  const measured: Measured[] = []
  for (const place of placesOf(id)) {
    const before = await byKey(pool, id, place, ms / 6)
    const value = await pages(pool, id, place, ms / 3)
    measured.push({ value, yardstick: (before + (await byKey(pool, id, place, ms / 6))) / 2 })
  }
  await pool.end()
  return measured.reduce((worst, one) => (one.value / one.yardstick < worst.value / worst.yardstick ? one : worst))
}
