import type pg from 'pg'
import { SqlState, hasSqlState } from './sql-state.ts'

const LOCK = 'tracebook error verbosity'

const statement = `
  select current_setting('log_error_verbosity') = 'terse' as "isTerse",
    format('alter role %I in database %I set log_error_verbosity = terse', session_user, current_database()) as alter`

/**
 * Sets the server to leave the details of errors, which quote rows, out of its log in all sessions of this role in this database.
 * Returns undefined if that is set; if the role may not set it, a sentence that says what to do.
 */
export const keepErrorsTerse = async (client: Pick<pg.ClientBase, 'query'>): Promise<string | undefined> => {
  const { rows } = await client.query<{ isTerse: boolean; alter: string }>(statement)
  const { isTerse, alter } = rows[0]!
  if (isTerse) return undefined
  // Two processes that start at once would change the same row.
  await client.query(`select pg_advisory_lock(hashtext('${LOCK}'))`)
  try {
    await client.query(alter)
    return undefined
  } catch (error) {
    if (!hasSqlState(error, SqlState.insufficientPrivilege)) throw error
    return `the database server's log of errors may quote what people wrote, and a deletion does not reach it: have a superuser run "${alter}"`
  } finally {
    await client.query(`select pg_advisory_unlock(hashtext('${LOCK}'))`)
  }
}
