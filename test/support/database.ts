import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '../../src/eventstore/postgres/migrate.ts'

export type Database = {
  readonly url: string
  /** Drops the database, and ends connections to it. */
  drop(): Promise<void>
}

/** Runs work with a connection of its own. */
export const withConnection = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // the next query fails; without a listener the process would end
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Runs a statement outside of transactions, on a connection of its own. */
export const onServer = (url: string, text: string, values: unknown[] = []) =>
  withConnection(url, (client) => client.query<Record<string, unknown>>(text, values))

/** The URL of another database on the same server. */
export const databaseUrl = (server: string, name: string): string => {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

const NOT_ALLOWED = '42501'

/** Drops a database, and ends connections to it. Not even its owner may end an autovacuum that works on it. */
export const dropDatabase = async (server: string, name: string): Promise<void> => {
  for (;;) {
    try {
      await onServer(server, `drop database if exists "${name}" with (force)`)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== NOT_ALLOWED) throw error
    }
  }
}

const dropReadModels = `
  do $$ declare name text; begin
    for name in select nspname from pg_namespace where starts_with(nspname, 'rm_') loop
      execute format('drop schema %I cascade', name);
    end loop;
  end $$`

/**
 * A new database with migrated tables and empty read models, as after the first start of a service; with `readModels: false`
 * as before that start. It is cloned from the run's template. A test file that is run without the runner, with
 * `TEST_POSTGRES_URL` set, has no template: then the database is migrated here, and the service creates its read models.
 */
export const freshDatabase = async ({ readModels = true } = {}): Promise<Database> => {
  const { TEST_POSTGRES_URL: server, TEST_TEMPLATE: template, TEST_RUN: run = 'test' } = process.env
  if (!server) throw new Error('use `npm test -- <part of the path>`, or set TEST_POSTGRES_URL')
  const name = `${run}_${randomBytes(6).toString('hex')}`
  // Copied as files, which takes a third of the time of a copy by the WAL: the checkpoint that it needs is cheap in memory.
  const from = template ? `template "${template}" strategy file_copy` : `template template0 encoding 'UTF8'`
  await onServer(server, `create database "${name}" ${from}`)
  const url = databaseUrl(server, name)
  if (!template) await migrate(url)
  if (!readModels) await onServer(url, dropReadModels)
  return { url, drop: () => dropDatabase(server, name) }
}
