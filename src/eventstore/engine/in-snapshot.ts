import type pg from 'pg'

type Row = Record<string, unknown>

/** Reads rows in one snapshot. A statement without a name is not prepared. */
export type ReadRows = <T extends Row>(name: string, text: string, values?: readonly unknown[]) => Promise<T[]>

/**
 * Runs `work` on one connection, whose statements all see the same rows.
 * @param settings SQL for settings of the transaction
 */
export const inSnapshot = async <T>(
  pool: Pick<pg.Pool, 'connect'>,
  work: (readRows: ReadRows) => Promise<T>,
  settings: readonly string[] = [],
): Promise<T> => {
  const client = await pool.connect()
  const readRows: ReadRows = async <R extends Row>(name: string, text: string, values: readonly unknown[] = []) =>
    (await client.query<R>({ name, text, values: [...values] })).rows
  try {
    await client.query(['begin isolation level repeatable read read only', ...settings].join('; '))
    const result = await work(readRows)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    client.release(error as Error)
    throw error
  }
}
