import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { newClient, withConnection } from '../postgres/connect.ts'
import { hasMigration, migrateTo } from '../postgres/migrate.ts'
import { assertSuitable } from '../postgres/server-check.ts'
import { isRestoreUnfinished, unfinishedRestoreTable } from '../postgres/unfinished-restore.ts'
import type { Header } from './format.ts'
import { type Piece, BadBackup, checkBackup, readPieces } from './read.ts'
import { type Table, copyTarget, tablesOf } from './tables.ts'

/** The database has data of a service. */
class NotEmpty extends Error {
  override readonly name = 'NotEmpty'
}

type RestoreOptions = {
  readonly path: string
  readonly url: string
  /** Called before each piece. An error of it ends the restore. */
  readonly check?: () => void
}

export type RestoreResult = { readonly rows: number; readonly events: number }

const schemasStatement = `
  select nspname as name from pg_namespace
  where nspname in ('log', 'tracebook', 'graphile_worker') or starts_with(nspname, 'rm_') order by nspname`

/** Prepares an empty database, or one with an unfinished restore, and marks it as having an unfinished restore. */
const begin = async (client: pg.Client) => {
  await client.query('begin')
  const { rows } = await client.query<{ name: string }>(schemasStatement)
  if (rows.length > 0 && !(await isRestoreUnfinished(client)))
    throw new NotEmpty(`the database already has data of a service (schema ${rows[0]!.name}): use an empty one`)
  for (const { name } of rows) await client.query(`drop schema ${client.escapeIdentifier(name)} cascade`)
  await client.query('create schema tracebook')
  await client.query(`create table ${unfinishedRestoreTable} ()`)
  await client.query('commit')
}

/** The rows of one table, which end with the piece `end`. */
async function* rowsOf(pieces: AsyncGenerator<Piece>, check: () => void) {
  for (;;) {
    check()
    const { value } = (await pieces.next()) as IteratorYieldResult<Piece>
    if (value.is !== 'rows') return
    yield value.bytes
  }
}

/** @throws BadBackup if the migrated database has no such table */
const assertKnown = (tables: readonly Table[], { name, columns }: Table, path: string) => {
  const known = tables.find((one) => one.name === name)
  if (!known || !columns.every((column) => known.columns.includes(column)))
    throw new BadBackup(`${path} has a table that its version of Tracebook did not have: ${name}. Use another copy`)
}

const countStatement = 'select coalesce(sum(size), 0)::float8 as events from log.appends'

/**
 * A restored log gets a new epoch, because the original log has continued after the backup. Clients notice the epoch, and upload the messages
 * that are missing here. `server` is stored again when a service first connects.
 */
const beginEpoch = 'update log.identity set epoch = gen_random_uuid(), server = null'

const fill = async (client: pg.Client, { path, check = () => {} }: RestoreOptions): Promise<RestoreResult> => {
  await client.query('begin')
  const tables = await tablesOf(client)
  let rows = 0
  // Read and checked again, because the file may have changed since.
  const pieces = readPieces(path)
  for await (const piece of pieces) {
    if (piece.is !== 'table') continue
    const { table } = piece
    assertKnown(tables, table, path)
    const target = copyTarget(client, table)
    await client.query(`delete from ${table.name}`) // the few rows of migrations
    const into = client.query(copyFrom(`copy ${target} from stdin`))
    await pipeline(rowsOf(pieces, check), into)
    rows += into.rowCount
  }
  const { rows: counts } = await client.query<{ events: number }>(countStatement)
  await client.query(beginEpoch)
  await client.query(`drop table ${unfinishedRestoreTable}`)
  await client.query('commit')
  return { rows, events: counts[0]!.events }
}

/**
 * Checks a whole file before anything is written.
 * @throws BadBackup if it is not a backup, was changed, or has tables of a later version
 */
export const checkRestorable = async (path: string, check?: () => void): Promise<Header> => {
  const { header } = await checkBackup(path, check)
  if (await hasMigration(header.migration)) return header
  throw new BadBackup(
    `${path} was written by Tracebook ${header.version}, whose tables this version does not know: update Tracebook first`,
  )
}

/**
 * Restores a backup into a database that is empty, or has an unfinished restore. All rows appear in one commit; until then `migrate` refuses
 * the database, also after a kill. The next start of a service builds the read models. Needs memory for one block.
 * `header` comes from `checkRestorable`.
 * @throws NotEmpty, UnsuitableServer before anything is changed
 */
export const restoreBackup = async (header: Header, options: RestoreOptions): Promise<RestoreResult> => {
  return withConnection(newClient(options.url, 'restore'), async (client) => {
    await assertSuitable((text) => client.query(text))
    await begin(client)
    await migrateTo(options.url, header.migration)
    return fill(client, options)
  })
}
