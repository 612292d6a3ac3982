import { readdirSync } from 'node:fs'
import { parse } from 'node:path'
import {
  type DatabaseIntrospector,
  Kysely,
  type Migration,
  Migrator,
  PostgresDialect,
  PostgresIntrospector,
  sql,
  type TableMetadata,
} from 'kysely'
import type pg from 'pg'
import { moduleUrl } from '../../base/threads.ts'
import { version } from '../../base/version.ts'
import { newPool } from './connect.ts'
import { assertSuitable } from './server-check.ts'
import { UnfinishedRestore, unfinishedRestoreStatement } from './unfinished-restore.ts'

const SCHEMA = 'tracebook'

/** Neither a migration nor waiting for another process that migrates has a timeout. */
const NO_TIMEOUT = 0

const folder = new URL('../../../migrations/', import.meta.url)

type Migrations = Readonly<Record<string, Migration>>

/** The migrations of this version, by their names. */
export const ownMigrations = async (): Promise<Migrations> => {
  const names = readdirSync(folder).map((file) => parse(file).name)
  const loaded = names.map(
    async (name) => [name, await import(moduleUrl(`../../../migrations/${name}`, import.meta.url).href)] as const,
  )
  return Object.fromEntries(await Promise.all(loaded))
}

/**
 * Lists the tables of one schema for the migrator, which looks for its own. Kysely's introspector resolves the names of all
 * tables of the database, and fails when another process drops one meanwhile, as happens with read models.
 */
class OwnTables extends PostgresIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    super(db)
    this.#db = db
  }

  override async getTables(): Promise<TableMetadata[]> {
    const tables = sql<{ name: string }>`select tablename as name from pg_tables where schemaname = ${SCHEMA}`
    const { rows } = await tables.execute(this.#db)
    return rows.map(({ name }) => ({ name, schema: SCHEMA, isView: false, columns: [] }))
  }
}

class OwnDialect extends PostgresDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new OwnTables(db)
  }
}

const withMigrator = async <T>(
  url: string,
  migrations: Migrations,
  work: (migrator: Migrator, db: Kysely<unknown>) => Promise<T>,
): Promise<T> => {
  const db = new Kysely<unknown>({
    dialect: new OwnDialect({ pool: newPool({ url, name: 'migrations', max: 2, statementTimeoutMs: NO_TIMEOUT }) }),
  })
  try {
    await assertSuitable((text) => sql.raw(text).execute(db))
    const provider = { getMigrations: () => Promise.resolve({ ...migrations }) }
    return await work(new Migrator({ db, provider, migrationTableSchema: SCHEMA }), db)
  } finally {
    await db.destroy()
  }
}

const assertRestored = async (db: Kysely<unknown>) => {
  const { rows } = await sql.raw<{ found: boolean }>(unfinishedRestoreStatement).execute(db)
  if (rows[0]!.found) throw new UnfinishedRestore('the database')
}

/** The database was made by a version with other migrations. The message says what to do. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion'

  constructor(migration: string) {
    super(
      `The database was made by another version of Tracebook: ${version} does not know its migration ${migration}. ` +
        'Start the version that has made it. Or move its log to this one: run `tracebook audit export --out FILE` with that version, then ' +
        '`tracebook audit import FILE` with this one and another DATABASE_URL or DATA_DIR, which is empty',
    )
  }
}

type Query = (text: string) => Promise<{ readonly rows: readonly unknown[] }>

/** The migrations that a database has had; none where no service was started. */
const namesIn = async (query: Query): Promise<string[]> => {
  const tables = await query(`select to_regclass('tracebook.kysely_migration') is not null as found`)
  if (!(tables.rows[0] as { found: boolean }).found) return []
  const { rows } = await query('select name from tracebook.kysely_migration order by name')
  return (rows as { name: string }[]).map(({ name }) => name)
}

/** @throws OtherVersion */
const assertOwn = (names: readonly string[], migrations: Migrations): void => {
  const other = names.find((name) => !Object.hasOwn(migrations, name))
  if (other !== undefined) throw new OtherVersion(other)
}

/** Refuses a database that is not as this version makes it, without changing it. @throws OtherVersion, Error */
export const assertMigrated = async (client: Pick<pg.ClientBase, 'query'>): Promise<void> => {
  const [migrations, names] = [await ownMigrations(), await namesIn((text) => client.query(text))]
  assertOwn(names, migrations)
  if (names.length < Object.keys(migrations).length)
    throw new Error('The database lacks tables of this version: start a service of this version on it first.')
}

/**
 * Migrates the log and the operational tables to the version of this code. Several processes may call it at once.
 * @param migrations default: those of this version
 * @throws UnfinishedRestore, UnsuitableServer, OtherVersion
 */
export const migrate = async (url: string, migrations?: Migrations): Promise<void> => {
  const all = migrations ?? (await ownMigrations())
  await withMigrator(url, all, async (migrator, db) => {
    await assertRestored(db)
    assertOwn(await namesIn((text) => sql.raw(text).execute(db)), all)
    const { error } = await migrator.migrateToLatest()
    if (error) throw error
  })
}

/** Whether this code has a migration of this name. */
export const hasMigration = async (name: string): Promise<boolean> => Object.hasOwn(await ownMigrations(), name)

/** Migrates a database without tables up to a migration, for a backup that has the tables of that time. */
export const migrateTo = async (url: string, name: string): Promise<void> =>
  withMigrator(url, await ownMigrations(), async (migrator) => {
    const { error } = await migrator.migrateTo(name)
    if (error) throw error
  })
