import type pg from 'pg'

/**
 * This table exists in a database from the beginning of a restore until its end, also after a kill of the process. While it exists, only another
 * restore may use the database.
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

/** SQL that returns, as `found`, whether this table exists. */
export const unfinishedRestoreStatement = `select to_regclass('${unfinishedRestoreTable}') is not null as found`

export const isRestoreUnfinished = async (client: Pick<pg.ClientBase, 'query'>): Promise<boolean> =>
  (await client.query<{ found: boolean }>(unfinishedRestoreStatement)).rows[0]!.found
