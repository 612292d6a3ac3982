import { readdirSync } from 'node:fs'
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
import { newPool } from './connect.ts'

const SCHEMA = 'tracebook'

/** A migration takes what it takes, and so does waiting for the process that runs it. */
const NO_LIMIT = 0

const folder = new URL('../../migrations/', import.meta.url)

const getMigrations = async (): Promise<Record<string, Migration>> => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'))
  const loaded = files.map(async (file) => [file.slice(0, -3), await import(new URL(file, folder).href)] as const)
  return Object.fromEntries(await Promise.all(loaded))
}

/**
 * The migrator asks which tables there are, to find its own. Kysely's answer resolves every table of the database by
 * name and fails when one is dropped meanwhile, as read models and a worker's tables are by other processes.
 */
class OwnTables extends PostgresIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    super(db)
    this.#db = db
  }

  override async getTables(): Promise<TableMetadata[]> {
    const named = sql<{ name: string }>`select tablename as name from pg_tables where schemaname = ${SCHEMA}`
    const { rows } = await named.execute(this.#db)
    return rows.map(({ name }) => ({ name, schema: SCHEMA, isView: false, columns: [] }))
  }
}

class OwnDialect extends PostgresDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new OwnTables(db)
  }
}

/** Brings the log and the operational tables to the version of this code. Safe when several processes start at once. */
export const migrate = async (url: string): Promise<void> => {
  const db = new Kysely<unknown>({ dialect: new OwnDialect({ pool: newPool(url, 'migrations', 2, NO_LIMIT) }) })
  try {
    const migrator = new Migrator({ db, provider: { getMigrations }, migrationTableSchema: SCHEMA })
    const { error } = await migrator.migrateToLatest()
    if (error) throw error
  } finally {
    await db.destroy()
  }
}
