import { createHash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { closeConnection, newClient } from '../postgres/connect.ts'
import { UnfinishedRestore, isRestoreUnfinished } from '../postgres/unfinished-restore.ts'
import { version } from '../base/version.ts'
import { END_OF_ROWS, type Header, VERSION, jsonLine } from './format.ts'
import { type Table, copyTarget, tablesOf } from './tables.ts'

export type BackupOptions = {
  readonly url: string
  /** When it is made, in milliseconds. */
  readonly at: number
  /** Called before each piece; what it throws ends the backup. */
  readonly check?: () => void
}

/** What a backup has, once all of it was read. */
export type Written = { readonly rows: number; readonly events: number; readonly sha256: string }

/** For a slow disk, or a slow reader of a pipe. */
const IDLE_TRANSACTION = '1h'

const headStatement = `
  select (select max(name) from tracebook.kysely_migration) as migration,
    (select coalesce(max(position), 0) from log.events)::text as through`

/** @throws Error, UnfinishedRestore where there is nothing that is whole */
const assertServed = async (client: pg.Client) => {
  if (await isRestoreUnfinished(client)) throw new UnfinishedRestore('the database')
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('tracebook.kysely_migration') is not null as found",
  )
  if (!rows[0]!.found) throw new Error("the database holds no service's data: look at DATABASE_URL")
}

const headerOf = async (client: pg.Client, at: number): Promise<Header> => {
  const { rows } = await client.query<Pick<Header, 'migration' | 'through'>>(headStatement)
  return { tracebookBackup: VERSION, version, at, ...rows[0]! }
}

/** Reads all tables in one snapshot; whoever writes to the database is not kept from it. */
async function* readTables(client: pg.Client, at: number, count: (table: Table, rows: number) => void) {
  await client.query('begin isolation level repeatable read read only')
  await client.query(`set local idle_in_transaction_session_timeout = '${IDLE_TRANSACTION}'`)
  yield jsonLine(await headerOf(client, at))
  for (const table of await tablesOf(client)) {
    yield jsonLine({ table: table.name, columns: table.columns })
    const rows = client.query(copyTo(`copy ${copyTarget(client, table)} to stdout`))
    yield* rows as AsyncIterable<Buffer>
    count(table, rows.rowCount)
    yield END_OF_ROWS
  }
}

/**
 * The bytes of a backup of a database, which its services go on using. Memory for a piece of it. `done` is called before the
 * last one.
 */
export async function* readBackup(
  { url, at, check = () => {} }: BackupOptions,
  done: (written: Written) => void,
): AsyncGenerator<Buffer> {
  const client = newClient(url, 'backup')
  client.on('error', () => {})
  const hash = createHash('sha256')
  let [rows, events] = [0, 0]
  const count = ({ name }: Table, more: number) => {
    rows += more
    if (name === 'log.events') events = more
  }
  try {
    await client.connect()
    await assertServed(client)
    for await (const piece of readTables(client, at, count)) {
      check()
      hash.update(piece)
      yield piece
    }
    const sha256 = hash.digest('hex')
    done({ rows, events, sha256 })
    yield jsonLine({ rows, sha256 })
  } finally {
    await closeConnection(client)
  }
}
