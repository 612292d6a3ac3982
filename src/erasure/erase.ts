import pg from 'pg'
import type { Client } from '../engine/checkpoint.ts'
import type { GroupNode } from '../engine/group-node.ts'
import type { EventLog } from '../log/log.ts'
import type { Due } from './pending-erasures.ts'

/** What erasure needs to know of a group of read models. */
export type ErasedGroup = Pick<GroupNode, 'group' | 'schema' | 'horizon' | 'quarantine'>

export type Tools = {
  readonly client: Client
  readonly log: EventLog
  readonly groups: readonly ErasedGroup[]
  readonly signal: AbortSignal
}

/** A stream that cannot be erased for now, and why. */
class NotYet extends Error {
  override readonly name = 'NotYet'
}

/** Whether all read models have seen a deletion: only then nothing of it can be read any more. Waits a while for it. */
export const haveAllPassed = (groups: readonly ErasedGroup[], position: bigint, ms: number): Promise<boolean> =>
  Promise.all(groups.map(({ horizon }) => horizon.passed(position, ms))).then(
    () => true,
    () => false,
  )

/** A stream in quarantine has not been deleted from the read models, and a deletion that was lost deletes nothing. */
const assertDeleted = async ({ log, groups }: Tools, { stream, position, eventId }: Due) => {
  if (groups.some(({ quarantine }) => !quarantine.isClear(stream))) throw new NotYet('the stream is in quarantine')
  if (eventId !== null && (await log.holds(position, eventId)) === false)
    throw new NotYet('the log does not hold its deletion')
}

/** Takes a deleted trace out of all read models, then out of the log. May be repeated at any point. */
export const erase = async (tools: Tools, due: Due): Promise<void> => {
  const { client, log, groups, signal } = tools
  await assertDeleted(tools, due)
  for (const { group, schema } of groups) {
    while (await group.sweep?.(client, schema, due.stream)) signal.throwIfAborted()
  }
  await log.truncate(due.stream, due.before)
}

/** No such table: the schema has still to be made. A lock that others hold: they will let go of it. */
const LATER = new Set(['42P01', '55P03'])

/**
 * Takes away what no stream that is due accounts for: a replay, a rebuild, and read models that were built from the
 * beginning come by deletions again that were erased long ago.
 */
export const sweepRest = async ({ client, groups, signal }: Tools): Promise<void> => {
  for (const { group, schema } of groups) {
    try {
      while (await group.sweep?.(client, schema)) signal.throwIfAborted()
    } catch (error) {
      if (!LATER.has((error as { code?: string }).code ?? '')) throw error
    }
  }
}

/** Why a try failed, without what PostgreSQL quotes. */
export const failureOf = (error: unknown): string => {
  if (error instanceof pg.DatabaseError) return `PostgreSQL refuses it (${error.code})`
  return error instanceof Error ? error.message : 'unknown'
}
