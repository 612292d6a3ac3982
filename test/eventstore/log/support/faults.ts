import pg from 'pg'
import { suite } from 'uvu'
import type { EventLog } from '../../../../src/eventstore/log/log.ts'
import { type PostgresLogOptions, openPostgresLog } from '../../../../src/eventstore/log/postgres/postgres-log.ts'
import { type Database, freshDatabase } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'
import { aStream, numbered } from './events.ts'
import { type Proxy, newProxy } from './proxy.ts'

/** For each test a database of its own, a network that can fail, and a direct connection to the database. */
export type Scene = {
  database: Database
  proxy: Proxy
  sql: pg.Client
  /** Opens a log through the proxy. */
  open(options?: Partial<PostgresLogOptions>): EventLog
  opened: EventLog[]
}

const build = async (): Promise<Scene> => {
  const database = await freshDatabase()
  const proxy = await newProxy(database.url)
  const sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  const opened: EventLog[] = []
  const open = (options: Partial<PostgresLogOptions> = {}) => {
    const log = openPostgresLog({ url: proxy.url, ...options })
    opened.push(log)
    return log
  }
  return { database, proxy, sql, open, opened }
}

export const faultSuite = (name: string) => {
  const test = suite<Scene>(name)
  test.before.each(async (scene) => void Object.assign(scene, await build()))
  test.after.each(async ({ database, proxy, sql, opened }) => {
    proxy.set('pass')
    await Promise.all(opened.map((log) => log.close()))
    await proxy.close()
    await sql.end()
    await database.drop()
  })
  return test
}

/**
 * Appends to new streams until one append succeeds. On a busy machine a log with a short deadline may give up the first ones, which also connect.
 */
export const untilItAppends = (log: EventLog): Promise<true> =>
  until(() =>
    log.append(aStream(), 'none', numbered(1)).then(
      () => true as const,
      () => false,
    ),
  )

/** How many backends the log has, by their purpose. */
export const backends = async (sql: pg.Client, purpose: 'writer' | 'listener'): Promise<number> => {
  const text = `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = $1`
  return (await sql.query<{ count: number }>(text, [`tracebook log ${purpose}`])).rows[0]!.count
}

/** Ends every backend of the log, as an administrator can. */
export const terminateAll = (sql: pg.Client) =>
  sql.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like 'tracebook log%'`)
