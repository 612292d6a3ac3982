import { chmod, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { type Address, readOwner, type Running, runningFile, writeRunning } from './owner-file.ts'

export type DataDirLock = {
  /** Tells other commands of this user how to reach this process (`readRunning`). */
  publish(address: Address): Promise<void>
  /** Gives the folder up. */
  release(): Promise<void>
}

const SQLITE_BUSY = 5
/** How long an owner may take to write down its pid, and a reader to look. */
const PATIENCE_MS = 1_000

const isBusy = (error: unknown) => error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY

/**
 * The lock is SQLite's on an empty database: an fcntl lock, which the kernel drops with its process, however that ends.
 * So there is no stale lock, no recycled pid and no race of two starters, at the price that nobody in this process may
 * open and close that file by other means, which drops it too.
 */
const tryLock = (file: string, statement: string): DatabaseSync | undefined => {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    // Without a journal file beside the lock.
    database.exec(`PRAGMA journal_mode = MEMORY; ${statement}`)
    return database
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    throw new Error(`cannot lock ${file}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

const lockFile = (dataDir: string) => join(dataDir, 'tracebook.lock')

/** Alive, as far as a signal can tell; another user's process counts. */
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const acquire = async (dataDir: string): Promise<DatabaseSync> => {
  for (const until = Date.now() + PATIENCE_MS; ; await setTimeout(20)) {
    const held = tryLock(lockFile(dataDir), 'BEGIN EXCLUSIVE')
    if (held) return held
    const pid = (await readOwner(dataDir))?.pid
    const known = pid !== undefined && isAlive(pid)
    if (known || Date.now() > until) {
      throw new Error(`${dataDir} is in use by ${known ? `process ${pid}` : 'another process'}: one may own a DATA_DIR`)
    }
  }
}

/** Root's PostgreSQL, which runs as somebody else, has to come through what is made here, whatever root's umask says. */
const makeFolder = async (dataDir: string) => {
  const first = await mkdir(dataDir, { recursive: true })
  if (first === undefined || process.getuid?.() !== 0) return
  for (let made = dataDir; made.length >= first.length; made = dirname(made)) await chmod(made, 0o711)
}

/**
 * Makes this process the owner of a DATA_DIR, which is created when missing. A kill -9 gives it up too.
 * @throws Error that names the pid of the present owner
 */
export const lockDataDir = async (dataDir: string): Promise<DataDirLock> => {
  await makeFolder(dataDir)
  const held = await acquire(dataDir)
  // Whoever can open the file can hold the lock.
  try {
    await chmod(lockFile(dataDir), 0o600)
    await writeRunning(dataDir, { pid: process.pid })
  } catch (error) {
    held.close()
    throw error
  }
  return {
    publish: (address) => writeRunning(dataDir, { pid: process.pid, ...address }),
    release: async () => {
      if (!held.isOpen) return
      await rm(runningFile(dataDir), { force: true })
      held.close()
    },
  }
}

const isOwned = (dataDir: string): boolean => {
  const free = tryLock(lockFile(dataDir), 'BEGIN; SELECT count(*) FROM sqlite_schema')
  free?.close()
  return !free
}

/**
 * How to reach the process that owns this DATA_DIR; undefined when none does, or it is still starting.
 * @throws Error when the folder belongs to another user
 */
export const readRunning = async (dataDir: string): Promise<Running | undefined> => {
  const owner = await readOwner(dataDir)
  if (!owner?.url || !owner.databaseUrl || !isOwned(dataDir)) return undefined
  return { pid: owner.pid, url: owner.url, databaseUrl: owner.databaseUrl }
}
