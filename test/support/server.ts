import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { databaseUrl, onServer } from './database.ts'

export type TestServer = {
  /** What the test files have to know: the server and the template, for `freshDatabase`. */
  readonly env: Readonly<Record<string, string>>
  /** Removes every database of this run, and the server when it is ours. */
  stop(): Promise<void>
}

const log = { info: () => {}, warn: console.warn, error: console.error }

const server = async (folder: string, signal: AbortSignal) => {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const dataDir = join(folder, 'server')
  await mkdir(dataDir)
  await chmod(dataDir, 0o711)
  return startPostgres({ dataDir, log, signal })
}

const dropAll = async (url: string, run: string) => {
  const { rows } = await onServer(url, 'select datname from pg_database where starts_with(datname, $1)', [run])
  for (const { datname } of rows) await onServer(url, `drop database if exists "${datname}" with (force)`)
}

/**
 * One real Postgres for the whole run, embedded, or `TEST_DATABASE_URL` where it is set (its role must be allowed to
 * create databases); with a migrated template that each file clones.
 */
export const startServer = async (folder: string, signal: AbortSignal): Promise<TestServer> => {
  const { url, stop } = await server(folder, signal)
  const run = `test_${process.pid}_${Date.now().toString(36)}`
  const end = async () => {
    if (process.env.TEST_DATABASE_URL) await dropAll(url, run)
    await stop('immediate')
  }
  try {
    const template = `${run}_template`
    await onServer(url, `create database "${template}"`)
    await migrate(databaseUrl(url, template))
    return { env: { TEST_DATABASE_URL: url, TEST_TEMPLATE: template, TEST_RUN: run }, stop: end }
  } catch (error) {
    await end()
    throw error
  }
}
