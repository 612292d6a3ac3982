import { isDiskFull, isTransient } from '../postgres/errors.ts'
import { Unavailable } from './rejected.ts'

/**
 * Waits for a query on operational tables, which are not derived from the log and are queried without `Reads`.
 * @throws Unavailable while the database cannot be reached, or its disk is full
 */
export const operationalQuery = async <T>(query: Promise<T>): Promise<T> => {
  try {
    return await query
  } catch (error) {
    if (isTransient(error) || isDiskFull(error)) throw new Unavailable('the database cannot be reached', false, error)
    throw error
  }
}
