import type pg from 'pg'

/**
 * While a backup is put into a database, there is a table that says so: it outlives a kill of the process. Nothing but another
 * restore may use the database then.
 */
export const unfinishedRestoreTable = 'tracebook.unfinished_restore'

/** A restore into a database or a folder has begun, and has not finished. */
export class UnfinishedRestore extends Error {
  override readonly name = 'UnfinishedRestore'

  /** `where`: what is half restored, for people. */
  constructor(where: string) {
    super(
      `${where}: a backup is being restored there, or a restore was broken off, and the data is incomplete. ` +
        'Run `tracebook restore FILE` again: it starts from the beginning',
    )
  }
}

/** Asks whether that table is there, as `found`. */
export const unfinishedRestoreStatement = `select to_regclass('${unfinishedRestoreTable}') is not null as found`

export const isRestoreUnfinished = async (client: Pick<pg.ClientBase, 'query'>): Promise<boolean> =>
  (await client.query<{ found: boolean }>(unfinishedRestoreStatement)).rows[0]!.found
