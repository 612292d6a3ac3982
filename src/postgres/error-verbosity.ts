import { closeConnection, newClient } from './connect.ts'
import { SqlState, hasSqlState } from './sql-state.ts'

const statement = `
  select current_setting('log_error_verbosity') = 'terse' as "isTerse",
    format('alter role %I in database %I set log_error_verbosity = terse', session_user, current_database()) as alter`

/**
 * Has the server leave details of errors out of its log, which quote rows, in all sessions of this role in this database. Gives
 * a sentence that says what to do where the role may not set that; undefined if it is so.
 */
export const keepErrorsTerse = async (url: string): Promise<string | undefined> => {
  const client = newClient(url, 'start')
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ isTerse: boolean; alter: string }>(statement)
    const { isTerse, alter } = rows[0]!
    if (isTerse) return undefined
    // Two processes that start at once would change the same row.
    await client.query(`select pg_advisory_lock(hashtext('tracebook error verbosity'))`)
    const refused = await client.query(alter).then(
      () => false,
      (error: unknown) => {
        if (!hasSqlState(error, SqlState.insufficientPrivilege)) throw error
        return true
      },
    )
    if (!refused) return undefined
    return `errors in the log of the database's server may quote what people wrote, where a deletion does not reach: have a superuser run "${alter}"`
  } finally {
    await closeConnection(client)
  }
}
