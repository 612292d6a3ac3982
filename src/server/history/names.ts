import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { isId } from '../../base/ids.ts'
import { displayNamesOf } from '../user/queries.ts'
import { quoted, SERVICE_NAME } from './sentences.ts'

/** The current names of users. */
export type Names = {
  /** Undefined for a user without one. */
  displayName(userId: string): string | undefined
  /** The name for sentences, on one line; for a user without a name, the beginning of the id. */
  nameOf(userId: string): string
}

/** The actor in events of the service itself. */
const SYSTEM = 'system'

export const namesOf = async (reads: Pick<Reads<ReadTables>, 'rows'>, userIds: Iterable<string>): Promise<Names> => {
  const ids = [...new Set(userIds)].filter(isId)
  const names = await displayNamesOf(reads, ids)
  const displayName = (userId: string) => names.get(userId)
  const nameOf = (userId: string) => {
    if (userId === SYSTEM) return SERVICE_NAME
    const name = names.get(userId)
    const shown = name === undefined ? '' : quoted(name).slice(1, -1)
    return shown === '' ? `User ${userId.slice(0, 8)}` : shown
  }
  return { displayName, nameOf }
}
