import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '../../src/eventstore/embedded/postgres.ts'
import { databaseUrl, dropDatabase, onServer } from './database.ts'

export type TestServer = {
  /** The environment variables with the server and the template, which `freshDatabase` reads in test files. */
  readonly env: Readonly<Record<string, string>>
  /** The process id of the server, if this run has started it. */
  pid(): number | undefined
  /** How many connections the server takes. */
  readonly connections: number
  /** Creates the template again with the current code. */
  renew(): Promise<void>
  /** Removes all databases of this run, and stops the server if this run has started it. */
  stop(): Promise<void>
}

export type ServerOptions = {
  /** The prefix of the names of the run's databases. */
  readonly run: string
  /** The environment of the processes that are started. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const log = { info: () => {}, warn: console.warn, error: console.error }

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 1024 ** 3

/** In memory, if it has space: then commits do not wait for a disk that others may be writing to. */
const chooseFolder = async (): Promise<string> => {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir()
}

const openServer = async (signal: AbortSignal) => {
  const { TEST_POSTGRES_URL: given } = process.env
  if (given) return { url: given, pid: () => undefined, stop: async () => {} }
  const dataDir = await mkdtemp(join(await chooseFolder(), 'tracebook-test-server-'))
  const remove = () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  try {
    await chmod(dataDir, 0o711) // an embedded Postgres may run as another user, who needs access
    const { url, pid, stop } = await startPostgres({ dataDir, log, signal })
    return { url, pid, stop: () => stop('immediate').then(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

const dropAll = async (url: string, run: string) => {
  const { rows } = await onServer(url, 'select datname from pg_database where starts_with(datname, $1)', [run])
  for (const { datname } of rows) await dropDatabase(url, datname as string)
}

/**
 * One real Postgres for the whole run, embedded, or `TEST_POSTGRES_URL` where it is set (its role must be allowed to
 * create databases); with a template that each file clones.
 */
export const startServer = async ({ run, env, signal }: ServerOptions): Promise<TestServer> => {
  const { url, pid, stop } = await openServer(signal)
  const template = `${run}_template`
  const renew = async () => {
    await onServer(url, `drop database if exists "${template}"`)
    await onServer(url, `create database "${template}" template template0 encoding 'UTF8'`)
    const program = join(import.meta.dirname, 'template.ts')
    await promisify(execFile)(process.execPath, [program, databaseUrl(url, template)], {
      env: { ...process.env, ...env },
      signal,
    })
  }
  const end = async () => {
    if (process.env.TEST_POSTGRES_URL) await dropAll(url, run)
    await stop()
  }
  try {
    const { rows } = await onServer(url, `select current_setting('max_connections')::int4 as connections`)
    const connections = rows[0]!.connections as number
    await renew()
    return { connections, env: { TEST_POSTGRES_URL: url, TEST_TEMPLATE: template }, pid, renew, stop: end }
  } catch (error) {
    await end()
    throw error
  }
}
