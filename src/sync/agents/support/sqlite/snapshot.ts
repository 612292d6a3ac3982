import { constants, copyFile, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorMessage } from '../../../../cli/exit.ts'
import { pause } from '../../../../base/waits.ts'
import { type DatabaseFiles, lookAtFiles, walHeader } from './files.ts'
import { type Database, newPrivateDatabase } from './load.ts'

/** Reads what it needs from the schema `source` into `database`, or returns it. Everything in it is of one moment. */
type Read<T> = (database: Database) => T

export type Taken<T> = { readonly database: Database; readonly result: T }

const ATTEMPTS = 40
const PAUSE_MS = 50

const attach = <T>(path: string, parameters: string, read: Read<T>): Taken<T> => {
  const database = newPrivateDatabase()
  try {
    database.prepare('ATTACH ? AS source').run(`${pathToFileURL(path).href}?mode=ro${parameters}`)
    database.exec('BEGIN')
    const result = read(database)
    database.exec('COMMIT; DETACH source')
    return { database, result }
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Reads a database whose write-ahead log is empty, without locks, so that its program never waits for us. That is only right
 * when the file stays as it is meanwhile: undefined when it did not.
 */
const takeUnlocked = async <T>(path: string, before: DatabaseFiles, read: Read<T>): Promise<Taken<T> | undefined> => {
  if (before.isJournalHot) return undefined
  let taken: Taken<T> | undefined
  let failure: unknown
  try {
    taken = attach(path, '&immutable=1', read)
  } catch (error) {
    failure = error
  }
  const after = await lookAtFiles(path)
  if (after.main === before.main && !after.isJournalHot) {
    if (taken) return taken
    throw failure
  }
  taken?.database.close()
  return undefined
}

/** Reads a copy of the database and its write-ahead log; undefined when they were changed while they were copied. */
const takeCopied = async <T>(path: string, before: DatabaseFiles, read: Read<T>): Promise<Taken<T> | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-database-'))
  try {
    const copy = join(folder, 'copy')
    const header = await walHeader(path)
    await copyFile(path, copy, constants.COPYFILE_FICLONE)
    await copyFile(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE)
    const isWhole = (await lookAtFiles(path)).main === before.main && (await walHeader(path)) === header
    return isWhole ? attach(copy, '', read) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Reads a database that is being written to a write-ahead log. With `readonly_shm` SQLite writes to none of its files; the
 * locks that it takes keep no program from writing. They need the index of the log, so that without it a copy is read, and
 * also when its program locks out all others.
 */
const takeWithWal = async <T>(path: string, read: Read<T>): Promise<Taken<T> | undefined> => {
  try {
    return attach(path, '&readonly_shm=1', read)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    const after = await lookAtFiles(path)
    return after.hasWal ? takeCopied(path, after, read) : undefined
  }
}

const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_CANTOPEN = 14

const codeOf = (error: unknown): number => ((error as { readonly errcode?: number }).errcode ?? 0) & 0xff

const isUnavailable = (error: unknown): boolean =>
  [SQLITE_BUSY, SQLITE_READONLY, SQLITE_CANTOPEN].includes(codeOf(error))

const take = async <T>(path: string, read: Read<T>): Promise<Taken<T>> => {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const files = await lookAtFiles(path)
    const taken = await (files.hasWal ? takeWithWal(path, read) : takeUnlocked(path, files, read))
    if (taken) return taken
    await pause(PAUSE_MS)
  }
  throw new Error('the database is being written all the time, or was not closed by its program: try again later')
}

const explained = (error: unknown): unknown =>
  codeOf(error) === 0 ? error : new Error(`the database cannot be read: ${errorMessage(error)}`, { cause: error })

/**
 * Reads from the SQLite database at `path`, which may be in use: `read` sees one moment of it as the schema `source`. None of
 * its files is written or created, and its program never waits. Throws what opening and reading the database throws, and when
 * it is being written without a break for some seconds.
 */
export const readDatabase = async <T>(path: string, read: Read<T>): Promise<T> => {
  const { database, result } = await copyFromDatabase(path, read)
  database.close()
  return result
}

/** As `readDatabase`, but hands on the private database, with the tables that `read` created. The caller closes it. */
export const copyFromDatabase = async <T>(path: string, read: Read<T>): Promise<Taken<T>> => {
  try {
    return await take(await realpath(path), read)
  } catch (error) {
    throw explained(error)
  }
}

/** The columns of a table of `source`; empty when there is no such table. */
export const columnsOf = (database: Database, table: string): ReadonlySet<string> =>
  new Set(
    database
      .prepare(`SELECT name FROM pragma_table_info(?, 'source')`)
      .all(table)
      .map(({ name }) => String(name)),
  )
