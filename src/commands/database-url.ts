import type { Config } from '../config.ts'
import { readRunningService } from '../embedded/lock.ts'

/**
 * The database that a command works on: that of `DATABASE_URL`, else that of the service that runs on `DATA_DIR`.
 * @throws Error when neither exists
 */
export const findDatabaseUrl = async (config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): Promise<string> => {
  if (config.DATABASE_URL) return config.DATABASE_URL
  const running = await readRunningService(config.DATA_DIR)
  if (!running) throw new Error(`no service runs on ${config.DATA_DIR}: start it, or set DATABASE_URL`)
  return running.databaseUrl
}
