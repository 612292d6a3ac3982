import type { Client } from '../engine/checkpoint.ts'
import type { Group } from '../engine/group.ts'
import { dropUnused, schemasBeside } from '../engine/schema.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'

const dropThoseUnused = (client: Client, group: Group): Promise<unknown> =>
  dropUnused(client, group).catch((error: unknown) => {
    if (!hasSqlState(error, SqlState.lockNotAvailable)) throw error // a query is reading it
  })

/** Drops unused read models other than those in use. Returns the names of the schemas that are left, which may have any content. */
export const dropOtherSchemas = async (
  client: Client,
  groups: readonly Group[],
  mayDrop: boolean,
): Promise<readonly string[]> => {
  const left: string[] = []
  for (const group of groups) {
    const others = await schemasBeside(client, group)
    if (others.length === 0) continue
    if (mayDrop) await dropThoseUnused(client, group)
    left.push(...(await schemasBeside(client, group)))
  }
  return left
}
