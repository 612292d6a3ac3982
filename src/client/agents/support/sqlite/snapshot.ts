import { constants, copyFile, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorMessage } from '../../../../cli/exit.ts'
import { pause } from '../../../../base/waits.ts'
import { type DatabaseFiles, lookAtFiles, walHeader } from './files.ts'
import { type Database, newPrivateDatabase } from './load.ts'

/** Reads from the schema `source`, which does not change meanwhile, into tables of the private database or into its result. */
type Read<T> = (database: Database) => T

/** The result of a `Read`, and the private database with the tables that it has made. */
export type Taken<T> = { readonly database: Database; readonly result: T }

const ATTEMPTS = 40
const PAUSE_MS = 50

/** Larger values are not read: the service takes no message of half the size. */
const MAX_VALUE = 64 << 20

/** The SQL of a column's value; NULL for a value of more than 64 MiB. */
export const bounded = (column: string, type: 'TEXT' | 'BLOB' = 'TEXT'): string =>
  `CASE WHEN octet_length(${column}) <= ${MAX_VALUE} THEN CAST(${column} AS ${type}) END`

const TABLE = /CREATE TABLE (?:IF NOT EXISTS )?["`]?(\w+)["`]?\s*\(/g

/** Whether a file begins like a SQLite database that has these tables: their descriptions are in its first page. */
export const beginsLikeDatabase = (beginning: string, ...tables: readonly string[]): boolean => {
  if (!beginning.startsWith('SQLite format 3\0')) return false
  const described = new Set([...beginning.matchAll(TABLE)].map(([, name]) => name))
  return tables.every((table) => described.has(table))
}

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
 * Reads a database whose write-ahead log is empty. It takes no locks, so that the program that owns the database never has to wait.
 * Undefined if the file was changed meanwhile, because what was read may then be of two moments.
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

/** Reads a copy of the database and its write-ahead log; undefined if they were changed while they were copied. */
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
 * Reads a database with a write-ahead log. With `readonly_shm` SQLite writes to none of its files, and its locks keep no program
 * from writing. These locks need the index of the log: where that is missing, or the program that owns the database has locked out
 * all others, a copy is read instead.
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
  throw new Error(
    'the database is written without a pause, or its program did not close it: close the program, or try again',
  )
}

const explained = (error: unknown): unknown =>
  codeOf(error) === 0 ? error : new Error(`the database cannot be read: ${errorMessage(error)}`, { cause: error })

/**
 * Reads from the SQLite database at `path`, which may be in use: `read` sees one moment of it as the schema `source`. None of
 * its files is written or created, and the program that owns it never has to wait. Throws what opening and reading the database
 * throws, and an error if it is written without a pause for some seconds.
 */
export const readDatabase = async <T>(path: string, read: Read<T>): Promise<T> => {
  const { database, result } = await copyFromDatabase(path, read)
  database.close()
  return result
}

/** As `readDatabase`, but keeps the private database with the tables that `read` has made. The caller closes it. */
export const copyFromDatabase = async <T>(path: string, read: Read<T>): Promise<Taken<T>> => {
  try {
    return await take(await realpath(path), read)
  } catch (error) {
    throw explained(error)
  }
}

/** The columns of a table of `source`; empty if there is no such table. */
export const columnsOf = (database: Database, table: string): ReadonlySet<string> =>
  new Set(
    database
      .prepare(`SELECT name FROM pragma_table_info(?, 'source')`)
      .all(table)
      .map(({ name }) => String(name)),
  )
