import type * as Sqlite from 'node:sqlite'
import { loadSqlite } from '../../../../base/load-sqlite.ts'

export type Database = Sqlite.DatabaseSync

// Earlier versions cannot open a database by a `file:` address, and so not without writing beside it.
const opensAddresses = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major >= 24 || (major === 23 && minor >= 10) || (major === 22 && minor >= 15)
}

/** A connection to the database in a file, which is created where it does not exist. */
export const openDatabase = (path: string): Database => new (loadSqlite().DatabaseSync)(path)

/**
 * A connection to a new private database, which is in memory while it is small, else in a file that is deleted when it is closed.
 * SQLite is loaded at the first call. Throws where this Node.js is too old.
 */
export const newPrivateDatabase = (): Database => {
  const { node } = process.versions
  if (!opensAddresses(node))
    throw new Error(`reading sessions in a database needs Node.js 22.15 or later, this is ${node}: update Node.js`)
  const database = new (loadSqlite().DatabaseSync)('')
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 200')
  return database
}
