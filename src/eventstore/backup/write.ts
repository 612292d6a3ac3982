import { createHash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { closeConnection, newClient } from '../postgres/connect.ts'
import { UnfinishedRestore, isRestoreUnfinished } from '../postgres/unfinished-restore.ts'
import { version } from '../../base/version.ts'
import { END_OF_ROWS, type Header, VERSION, jsonLine } from './format.ts'
import { copyTarget, tablesOf } from './tables.ts'

type BackupOptions = {
  readonly url: string
  /** When it is written, in milliseconds. */
  readonly at: number
  /** Called before each piece. An error of it ends the backup. */
  readonly check?: () => void
}

/** The numbers of rows and events in a whole backup, and the SHA-256 in its trailer. */
export type BackupContent = { readonly rows: number; readonly events: number; readonly sha256: string }

/** A slow disk, or a slow reader of a pipe, may take so long. */
const IDLE_TRANSACTION = '1h'

const headStatement = `
  select (select max(name) from tracebook.kysely_migration) as migration,
    (select coalesce(max(last), 0) from log.appends)::text as through,
    (select coalesce(sum(size), 0) from log.appends)::float8 as events`

/** @throws Error, UnfinishedRestore if the database has no complete data */
const assertServed = async (client: pg.Client) => {
  if (await isRestoreUnfinished(client)) throw new UnfinishedRestore('the database')
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('tracebook.kysely_migration') is not null as found",
  )
  if (!rows[0]!.found) throw new Error('the database has no data of a service: check DATABASE_URL')
}

type Head = Pick<Header, 'migration' | 'through'> & { readonly events: number }

/** Reads all tables in one snapshot. Does not block writers. */
async function* readTables(client: pg.Client, at: number, count: (rows: number, events: number) => void) {
  await client.query('begin isolation level repeatable read read only')
  await client.query(`set local idle_in_transaction_session_timeout = '${IDLE_TRANSACTION}'`)
  const { events, ...head } = (await client.query<Head>(headStatement)).rows[0]!
  count(0, events)
  yield jsonLine({ tracebookBackup: VERSION, version, at, ...head } satisfies Header)
  for (const table of await tablesOf(client)) {
    yield jsonLine({ table: table.name, columns: table.columns })
    const rows = client.query(copyTo(`copy ${copyTarget(client, table)} to stdout`))
    yield* rows as AsyncIterable<Buffer>
    count(rows.rowCount, 0)
    yield END_OF_ROWS
  }
}

/**
 * Reads a database as the bytes of a backup, while its services continue to use it. Needs memory for one piece. Calls `done` before it yields
 * the last piece.
 */
export async function* readBackup(
  { url, at, check = () => {} }: BackupOptions,
  done: (written: BackupContent) => void,
): AsyncGenerator<Buffer> {
  const client = newClient(url, 'backup')
  const hash = createHash('sha256')
  let [rows, events] = [0, 0]
  const count = (moreRows: number, moreEvents: number) => {
    rows += moreRows
    events += moreEvents
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
