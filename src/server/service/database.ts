import type { Logger } from 'pino'
import { untrustedCertificate } from '../../base/untrusted-certificate.ts'
import type { Config } from '../config.ts'
import { type IsDiskLow, diskGuard } from '../../eventstore/embedded/disk.ts'
import { lockDataDir } from '../../eventstore/embedded/lock.ts'
import { startPostgres } from '../../eventstore/embedded/postgres.ts'
import { SqlState, hasSqlState } from '../../eventstore/postgres/sql-state.ts'
import { waitUntilReady } from '../../eventstore/postgres/wait-until-ready.ts'

/** The database of a service: an embedded PostgreSQL, or that of `DATABASE_URL`. */
type Database = {
  readonly url: string
  /** Printed for the operator; has no password. */
  readonly description: string
  /** The folder of an embedded database. */
  readonly dataDir?: string
  /** Always false for a database that is not embedded. */
  readonly isDiskLow: IsDiskLow
  /** Writes the URL of the service into `DATA_DIR`, where the command line finds it. Does nothing without an embedded database. */
  publish(serviceUrl: string): Promise<void>
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

const logDiskChange = (logger: Logger, dataDir: string, reserveMb: number) => (isLow: boolean) => {
  const about = { dataDir, reserveMb }
  if (isLow) logger.error(about, 'the disk is nearly full: writes are refused until there is space')
  else logger.warn(about, 'the disk has space again: writes are accepted')
}

/** Waits for a database that is starting. @throws Error that names `DATABASE_URL` if it cannot be reached */
const assertReachable = async (url: string, signal: AbortSignal) => {
  try {
    await waitUntilReady(url, signal)
  } catch (error) {
    signal.throwIfAborted()
    const { message, code } = error as { message?: string; code?: string }
    const advice = hasSqlState(error, SqlState.protocolViolation)
      ? 'Connect to PostgreSQL itself, not to a pooler: the service needs the settings that it sends with each connection'
      : 'Check the URL, and that the server runs'
    const reason = untrustedCertificate(error) ?? (message || code)
    throw new Error(`DATABASE_URL: the database cannot be reached: ${reason}. ${advice}`, { cause: error })
  }
}

/** Connects to `DATABASE_URL`, or starts the embedded PostgreSQL in `DATA_DIR`, which only one process may use. */
export const openDatabase = async (config: Config, logger: Logger, signal: AbortSignal): Promise<Database> => {
  if (config.DATABASE_URL) {
    await assertReachable(config.DATABASE_URL, signal)
    const nothing = async () => {}
    return {
      url: config.DATABASE_URL,
      description: 'DATABASE_URL',
      isDiskLow: () => false,
      publish: nothing,
      stop: nothing,
    }
  }
  const { DATA_DIR: dataDir, DISK_RESERVE_MB: reserveMb, ROLES: roles } = config
  if (!roles.includes('api') || !roles.includes('projector'))
    throw new Error(
      `ROLES is ${roles.join()}, but the embedded PostgreSQL is for one process that does everything: ` +
        'remove ROLES, or set DATABASE_URL',
    )
  const lock = await lockDataDir(dataDir)
  try {
    const postgres = await startPostgres({ dataDir, log: logger, signal })
    return {
      url: postgres.url,
      description: `its own PostgreSQL in ${dataDir}`,
      dataDir,
      isDiskLow: diskGuard({ dir: dataDir, reserveMb, onChange: logDiskChange(logger, dataDir, reserveMb) }),
      publish: (url) => lock.publish({ url, databaseUrl: postgres.url }),
      stop: async (mode) => {
        await postgres.stop(mode)
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}
