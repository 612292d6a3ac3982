import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { lockDataDir, readRunningService } from '../embedded/lock.ts'
import { startPostgres } from '../embedded/postgres.ts'

const silentLogger = { info: () => {}, warn: () => {}, error: () => {} }

/** Starts the PostgreSQL of a folder while it is needed. */
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

const assertHoldsPostgres = (dataDir: string): Promise<void> =>
  access(join(dataDir, 'postgres')).catch(() => {
    throw new Error(`${dataDir} holds no PostgreSQL: set DATA_DIR to the folder of the service, or DATABASE_URL`)
  })

type Place = Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>

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

/** Runs `work`, which restores a backup, with the database of `DATABASE_URL`, else with that of `DATA_DIR`, which is made if there is none. */
export const withNewDatabase = <T>({ DATABASE_URL, DATA_DIR }: Place, work: (url: string) => Promise<T>): Promise<T> =>
  DATABASE_URL ? work(DATABASE_URL) : withStarted(DATA_DIR, work, { restores: true })
