import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../cli/exit.ts'
import { type Database, openDatabase } from '../agents/support/sqlite/load.ts'

/** To be raised with each change of the tables. A record of an older version is thrown away. */
const VERSION = 10

/**
 * `destination`: a namespace of a service, and the log that the service had. `session`: what was sent to it of a session, the revision of
 * its trace at which the notes about messages hold (NULL: nothing is known of what the service has), and the only source of
 * the versions that are ours, if it is one; `moved_to` is the slug of the namespace where its trace has gone. `file`: the files in which a session was read; `stamp` is that of its last complete upload. `message`: what the service has of
 * each message, by a hash of its id: the version with this digest, or, if it is `theirs`, one that another machine has sent. `origin`: the
 * project of a source, which decides where it goes. `told`: losses of sessions of an agent that were reported. `last_write`: the position in the log of a service of the last write that it has acknowledged.
 */
const TABLES = `
  CREATE TABLE destination (
    id INTEGER PRIMARY KEY AUTOINCREMENT, server TEXT NOT NULL, namespace TEXT NOT NULL, log TEXT,
    UNIQUE (server, namespace));
  CREATE TABLE session (
    id INTEGER PRIMARY KEY, destination INTEGER NOT NULL REFERENCES destination ON DELETE CASCADE,
    agent TEXT NOT NULL, session TEXT NOT NULL, trace TEXT NOT NULL, status TEXT NOT NULL, fields TEXT NOT NULL,
    revision INTEGER, sent_from TEXT, moved_to TEXT,
    UNIQUE (destination, agent, session));
  CREATE TABLE file (
    destination INTEGER NOT NULL REFERENCES destination ON DELETE CASCADE, path TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE, stamp TEXT,
    UNIQUE (destination, path));
  CREATE INDEX file_of_session ON file (session);
  CREATE TABLE message (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE, id INTEGER NOT NULL, digest BLOB NOT NULL,
    theirs INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
  CREATE TABLE origin (source TEXT PRIMARY KEY, stamp TEXT NOT NULL, project TEXT) WITHOUT ROWID;
  CREATE TABLE told (agent TEXT NOT NULL, loss TEXT NOT NULL, PRIMARY KEY (agent, loss)) WITHOUT ROWID;
  CREATE TABLE last_write (server TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = ${VERSION};`

export const STATE_FILE = 'uploads.sqlite'

// SQLite's codes for a damaged file, and for a file that is not a database.
const DAMAGED: readonly unknown[] = [11, 26]

/** The record of what was uploaded cannot be written or read: the disk is full, or the file is read-only. */
export class StateFailed extends Error {
  override readonly name = 'StateFailed'
  readonly path: string
  readonly reason: string
  constructor(path: string, cause: unknown) {
    super(`what was uploaded cannot be recorded in ${path}: ${errorMessage(cause)}`, { cause })
    this.path = path
    this.reason = errorMessage(cause)
  }
}

const isOfSqlite = (error: unknown): boolean => (error as { readonly code?: unknown }).code === 'ERR_SQLITE_ERROR'

const isDamage = (error: unknown): boolean =>
  isOfSqlite(error) && DAMAGED.includes(((error as { readonly errcode?: number }).errcode ?? 0) & 0xff)

const CANNOT_WRITE: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EROFS']

/** Whether an error is one of SQLite, also of the lock of a process, or says that nothing can be written. */
const isOfState = (error: unknown): boolean =>
  isOfSqlite(error) ||
  CANNOT_WRITE.includes((error as { readonly code?: unknown }).code) ||
  (error instanceof Error && error.cause !== undefined && isOfState(error.cause))

/** Runs `work` in a transaction that no other process writes in. */
export const transaction = <T>(database: Database, work: () => T): T => {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // SQLite has ended it, as it does where the disk is full.
    }
    throw error
  }
}

const versionOf = (database: Database) => Number(database.prepare('PRAGMA user_version').get()!['user_version'])

const tablesOf = (database: Database): readonly string[] =>
  database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`)
    .all()
    .map(({ name }) => String(name))

/** Makes the tables. What an older version has recorded is found out again by comparing with the service. */
const create = (database: Database, path: string): void =>
  transaction(database, () => {
    const version = versionOf(database)
    if (version > VERSION)
      throw new Error(
        `a newer version of tracebook has written ${path}: update this one, or delete that file, and all is compared with the service`,
      )
    if (version === VERSION) return
    for (const table of tablesOf(database)) database.exec(`DROP TABLE "${table}"`)
    database.exec(TABLES)
  })

const open = (path: string): Database => {
  const database = openDatabase(path)
  try {
    // NORMAL: after a loss of power the last uploads may be forgotten, which the server then answers with `unchanged`.
    database.exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    database.exec('PRAGMA foreign_keys = OFF')
    if (versionOf(database) !== VERSION) create(database, path)
    database.exec('PRAGMA foreign_keys = ON')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** An open database with its prepared statements and cached look-ups. */
export type StateFile<Prepared> = {
  /** Runs `work`, and in a new file once more where the old one turns out to be damaged. */
  readonly use: <T>(work: (prepared: Prepared) => T) => T
  readonly close: () => void
}

/**
 * The file in `folder` that holds what was uploaded, for its owner only; several processes may use it at once. A damaged one is
 * deleted: then everything is compared with the server again. Without `folder` it is in memory. Throws Error for the file
 * of a newer version, and StateFailed, as `use` does, if the file cannot be used for another reason.
 */
export const openStateFile = <Prepared>(
  folder: string | undefined,
  prepare: (database: Database) => Prepared,
): StateFile<Prepared> => {
  const path = folder === undefined ? ':memory:' : join(folder, STATE_FILE)
  const start = () => {
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      closeSync(openSync(path, 'a', 0o600))
    }
    const database = open(path)
    return { database, prepared: prepare(database) }
  }
  const startAnew = () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    return start()
  }
  const explained = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw isOfState(error) ? new StateFailed(path, error) : error
    }
  }
  const orAnew = <T>(work: () => T, anew: () => T): T =>
    explained(() => {
      try {
        return work()
      } catch (error) {
        if (!isDamage(error)) throw error
        return anew()
      }
    })
  let current = orAnew(start, startAnew)
  let isClosed = false
  return {
    use: (work) =>
      orAnew(
        () => work(current.prepared),
        () => {
          current.database.close()
          current = startAnew()
          return work(current.prepared)
        },
      ),
    close: () => {
      if (!isClosed) current.database.close()
      isClosed = true
    },
  }
}
