import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { mainGroup } from '../../projections/index.ts'
import type { ReadTables } from '../../src/tables/main.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import type { Reads } from '../../src/eventstore/engine/reads.ts'
import { newPool } from '../../src/eventstore/postgres/connect.ts'
import { cursorAfterMessage } from '../../src/server/trace/messages/cursor.ts'
import { type Keys, type MessageListRow, columns } from '../../src/server/trace/messages/queries.ts'
import { type PageToRead, readPage } from '../../src/server/trace/messages/read-page.ts'
import { messages } from './corpus.ts'
import { rate, requestBytes, requestRate } from './http.ts'
import { type Measured, type Named, type Setting, between } from './measure.ts'
import type { World } from './world.ts'

const COUNT = 50_000
const LIMIT = 50
const WORKERS = 4

type Place = { readonly name: string; readonly from: number; readonly after: Keys | undefined }
type Trace = { readonly id: string; readonly userId: string; readonly path: string; readonly authorization: string }

/** A trace of 50,000 messages, as the service takes it in. */
const fillTrace = async (world: World): Promise<Trace> => {
  const { authorization, userId } = await world.signIn('message-page')
  const path = `/v1/traces/${randomUUID()}`
  const text = await world.ask('PUT', path, authorization, {})
  await world.upload(path, authorization, COUNT, messages)
  const { id } = (JSON.parse(text) as { data: { trace: { id: string } } }).data.trace
  return { id, userId, path, authorization }
}

/** The keys of a message of the corpus. */
const keysOf = (ordinal: number): Keys => {
  const { order, timestamp } = messages(1, ordinal)[0] as { order: number; timestamp: number }
  return [order, timestamp, ordinal]
}

/** The cursor that a page gives which ends with a message. */
const cursorOf = (id: string, [sequence, timestamp, ordinal]: Keys): string =>
  cursorAfterMessage({ id, incarnation: 0n }, 'present', { ordinal, sequence, timestamp } as MessageListRow, 0n)

/** The first page, the one in the middle and the last. */
const PLACES: readonly Place[] = Object.entries({ first: 0, middle: COUNT / 2, last: COUNT - LIMIT }).map(
  ([name, from]) => ({ name, from, after: from === 0 ? undefined : keysOf(from - 1) }),
)

/** Pages a second as the service reads them. */
const pages = (pool: pg.Pool, { id, userId }: Trace, { after }: Place, ms: number): Promise<number> => {
  const rows: Reads<ReadTables>['rows'] = async (name, text, values = []) =>
    (await pool.query({ name, text, values: [...values] })).rows
  const wanted: PageToRead = { named: [id, userId, null, null], includeParts: false, limit: LIMIT + 1, after }
  return rate(WORKERS, ms, async () => {
    await readPage({ rows, assertNotQuarantined: () => {} }, wanted, 256 * 1024)
    return 1
  })
}

const keyStatement = `
  select ${columns} from ${schemaOf(mainGroup)}.messages m where trace_id = $1 and incarnation = 0 and ordinal >= $2 order by ordinal limit $3`

/** The same messages by their primary key. */
const byKey = (pool: pg.Pool, id: string, { from }: Place, ms: number): Promise<number> =>
  rate(WORKERS, ms, async () => {
    await pool.query({ name: 'by-key', text: keyStatement, values: [id, from, LIMIT + 1] })
    return 1
  })

/** Pages a second as clients get them. */
const answers = (world: World, { id, path, authorization }: Trace, { after }: Place, ms: number) => {
  const query = `limit=${LIMIT}${after ? `&cursor=${cursorOf(id, after)}` : ''}`
  const request = requestBytes('GET', `${path}/messages?${query}`, { authorization })
  return requestRate(world.url, WORKERS, ms, () => request)
}

const worstOf = (all: readonly Measured[]): Measured =>
  all.reduce((worst, one) => (one.value / one.yardstick < worst.value / worst.yardstick ? one : worst))

/**
 * Pages of 50 messages a second beside the same messages by primary key: what the database is asked for a page, of the first one,
 * the one in the middle and the last that which compares worst; and each of the three over HTTP.
 */
export const messagePage = async ({ world, ms }: Setting): Promise<readonly Named[]> => {
  const trace = await fillTrace(world)
  const pool = newPool({ url: world.databaseUrl, name: 'pages', max: WORKERS, schema: schemaOf(mainGroup) })
  const bare = newPool({ url: world.databaseUrl, name: 'yardstick', max: WORKERS })
  const unit = 'pages/s'
  const [asked, sent]: [Measured[], Named[]] = [[], []]
  for (const place of PLACES) {
    const yardstick = () => byKey(bare, trace.id, place, ms / 6)
    asked.push(await between(yardstick, () => pages(pool, trace, place, ms / 3)))
    const measured = await between(yardstick, () => answers(world, trace, place, ms / 3))
    sent.push({ name: `message-page ${place.name}`, unit, ...measured })
  }
  await Promise.all([pool.end(), bare.end()])
  return [{ name: 'message-page', unit, ...worstOf(asked) }, ...sent]
}
