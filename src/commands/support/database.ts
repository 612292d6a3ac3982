import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../server/config.ts'
import { lockDataDir, readRunningService } from '../../eventstore/embedded/lock.ts'
import { startPostgres } from '../../eventstore/embedded/postgres.ts'

type Place = Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>

/** The database of `DATABASE_URL`, else that of the service running on `DATA_DIR`. @throws Error without either */
export const findDatabaseUrl = async ({ DATABASE_URL, DATA_DIR }: Place): Promise<string> => {
  if (DATABASE_URL) return DATABASE_URL
  const running = await readRunningService(DATA_DIR)
  if (!running) throw new Error(`No service is running on ${DATA_DIR}: start it, or set DATABASE_URL.`)
  return running.databaseUrl
}

export const silentLogger = { info: () => {}, warn: () => {}, error: () => {} }

/** Runs `work` with the PostgreSQL of a folder, which is started for it. */
const withStarted = async <T>(
  dataDir: string,
  work: (url: string) => Promise<T>,
  options: { readonly restores?: boolean } = {},
): Promise<T> => {
  const lock = await lockDataDir(dataDir, options)
  try {
    const postgres = await startPostgres({ dataDir, log: silentLogger })
    return await work(postgres.url).finally(() => postgres.stop('fast'))
  } finally {
    await lock.release()
  }
}

/** @throws Error */
export const assertHoldsPostgres = (dataDir: string): Promise<void> =>
  access(join(dataDir, 'postgres')).catch(() => {
    throw new Error(`There is no PostgreSQL in ${dataDir}: set DATA_DIR to the folder of the service, or DATABASE_URL.`)
  })

/**
 * Runs `work` with the database of `DATABASE_URL`, else with that of `DATA_DIR`, which is started if no service runs there.
 * @throws Error when there is none
 */
export const withDatabase = async <T>(
  { DATABASE_URL, DATA_DIR }: Place,
  work: (url: string) => Promise<T>,
): Promise<T> => {
  if (DATABASE_URL) return work(DATABASE_URL)
  const running = await readRunningService(DATA_DIR)
  if (running) return work(running.databaseUrl)
  await assertHoldsPostgres(DATA_DIR)
  return withStarted(DATA_DIR, work)
}

/** Runs `work`, which restores a backup, with the database of `DATABASE_URL`, else with that of `DATA_DIR`, which is created if it is missing. */
export const withNewDatabase = <T>({ DATABASE_URL, DATA_DIR }: Place, work: (url: string) => Promise<T>): Promise<T> =>
  DATABASE_URL ? work(DATABASE_URL) : withStarted(DATA_DIR, work, { restores: true })
