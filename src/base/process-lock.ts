import type { DatabaseSync } from 'node:sqlite'
import { loadSqlite } from './load-sqlite.ts'

/** A lock that this process holds until it is closed. */
export type ProcessLock = Pick<DatabaseSync, 'close' | 'isOpen'>

const SQLITE_BUSY = 5

const isBusy = (error: unknown) => error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY

const statements = { exclusive: 'BEGIN EXCLUSIVE', shared: 'BEGIN; SELECT count(*) FROM sqlite_schema' } as const

/**
 * Takes SQLite's lock on an empty database: an fcntl lock, which the kernel releases with its process, however that ends. So
 * there are no stale locks, no recycled pids and no races of two processes that start. But no other code of this process
 * may open and close the file: that would release the lock, too. Waits up to `timeoutMs`, during which this thread does nothing
 * else; undefined if another process holds the lock for longer. The file is created, its folder is not.
 * @throws Error when the file cannot be locked
 */
export const tryLock = (
  file: string,
  kind: keyof typeof statements = 'exclusive',
  timeoutMs = 0,
): ProcessLock | undefined => {
  let database: DatabaseSync | undefined
  try {
    database = new (loadSqlite().DatabaseSync)(file)
    // No journal file beside the lock.
    database.exec(`PRAGMA busy_timeout = ${timeoutMs}; PRAGMA journal_mode = MEMORY; ${statements[kind]}`)
    return database
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    throw new Error(`cannot lock ${file}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}
