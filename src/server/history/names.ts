import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { isId } from '../../base/ids.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import { quoted, SERVICE_NAME } from './sentences.ts'

/** The current names of users. */
export type Names = {
  /** Undefined for a user without one. */
  displayName(userId: string): string | undefined
  /** The name for sentences, on one line; for a user without a name, the beginning of the id. */
  nameOf(userId: string): string
}

const statement = 'select id, display_name from users where id = any($1::uuid[])'

/** The actor in events of the service itself. */
const SYSTEM = 'system'

export const namesOf = async (reads: Pick<Reads<ReadTables>, 'rows'>, userIds: Iterable<string>): Promise<Names> => {
  const ids = [...new Set(userIds)].filter(isId)
  type UserRow = { id: string; display_name: string | null }
  const rows = ids.length === 0 ? [] : await reads.rows<UserRow>('names-of-users', statement, [uuids(ids)])
  const names = new Map(
    rows.flatMap(({ id, display_name }) => (display_name === null ? [] : [[id, JSON.parse(display_name) as string]])),
  )
  const displayName = (userId: string) => names.get(userId)
  const nameOf = (userId: string) => {
    if (userId === SYSTEM) return SERVICE_NAME
    const name = names.get(userId)
    const shown = name === undefined ? '' : quoted(name).slice(1, -1)
    return shown === '' ? `User ${userId.slice(0, 8)}` : shown
  }
  return { displayName, nameOf }
}
