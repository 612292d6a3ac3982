import pg from 'pg'
import type { Client } from '../../eventstore/engine/checkpoint.ts'
import type { Group } from '../../eventstore/engine/group.ts'
import type { OpenGroup } from '../../eventstore/engine/open-groups.ts'
import { dropUnused, schemasBeside } from '../../eventstore/engine/schema.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { hasSqlState, SqlState } from '../../eventstore/postgres/sql-state.ts'
import type { PendingErasure } from './pending-erasures.ts'

/** A group of read models, with the members that erasure uses. */
export type ErasedGroup = Pick<OpenGroup, 'group' | 'schema' | 'watermark' | 'quarantine'>

export type ErasureContext = {
  readonly client: Client
  readonly log: EventLog
  readonly groups: readonly ErasedGroup[]
  /** Whether schemas that no process locks are unused. After an outage processes need time to lock theirs again. */
  readonly mayDropSchemas: () => boolean
  readonly signal: AbortSignal
}

/** A stream that cannot be erased now; the message says why. */
class NotErasableYet extends Error {
  override readonly name = 'NotErasableYet'
}

/** Whether all read models have applied the deletion at this position, so that no query shows the trace. Waits up to `ms`. */
export const haveAllPassed = (groups: readonly ErasedGroup[], position: bigint, ms: number): Promise<boolean> =>
  Promise.all(groups.map(({ watermark }) => watermark.waitFor(position, ms))).then(
    () => true,
    () => false,
  )

/** Checks that the log still has the deletion. @throws NotErasableYet if it has lost the deletion */
const assertHeld = async ({ log }: ErasureContext, { position, eventId }: PendingErasure) => {
  if ((await log.holds(position, eventId)) === false)
    throw new NotErasableYet('the log does not hold the deletion: it has lost its end')
}

/** @throws NotErasableYet if the stream is in quarantine, because the read models have not applied its deletion */
const assertNotInQuarantine = ({ groups }: ErasureContext, { stream }: PendingErasure) => {
  if (groups.some(({ quarantine }) => !quarantine.isNotQuarantined(stream)))
    throw new NotErasableYet('the stream is in quarantine: replay it, or skip the event that cannot be applied')
}

/** Deletes the rows of a deleted trace from the read models in use. */
const sweep = async ({ client, groups, signal }: ErasureContext, stream: string): Promise<void> => {
  for (const { group, schema } of groups) {
    while (await group.sweep?.(client, schema, stream)) signal.throwIfAborted()
  }
}

const dropUnusedSchemas = (client: Client, group: Group): Promise<unknown> =>
  dropUnused(client, group).catch((error: unknown) => {
    if (!hasSqlState(error, SqlState.lockNotAvailable)) throw error // a query is reading it
  })

/** Drops read models that no process uses. Returns the names of other schemas that are left, which may still have erased content. */
const dropOtherSchemas = async (
  client: Client,
  groups: readonly Group[],
  mayDrop: boolean,
): Promise<readonly string[]> => {
  const left: string[] = []
  for (const group of groups) {
    const others = await schemasBeside(client, group)
    if (others.length === 0) continue
    if (mayDrop) await dropUnusedSchemas(client, group)
    left.push(...(await schemasBeside(client, group)))
  }
  return left
}

/** Drops read models of other schemas. @throws NotErasableYet while any are left, because they may have the content */
const assertNoOthers = async ({ client, groups, mayDropSchemas }: ErasureContext) => {
  const all = groups.map(({ group }) => group)
  const left = await dropOtherSchemas(client, all, mayDropSchemas())
  if (left.length > 0)
    throw new NotErasableYet(`other read models may still have the content and are in use: ${left.join(', ')}`)
}

/**
 * Erases a deleted trace from all read models, and from the log, so that read models that are built later do not hold it either.
 * May be interrupted and repeated at any point.
 * @throws NotErasableYet
 */
export const erase = async (context: ErasureContext, pending: PendingErasure): Promise<void> => {
  await assertHeld(context, pending)
  assertNotInQuarantine(context, pending)
  await sweep(context, pending.stream)
  await context.log.truncate(pending.stream, pending.before, { position: pending.position, id: pending.eventId })
  await assertHeld(context, pending) // if the log has lost the deletion meanwhile, nothing was erased
  await assertNoOthers(context)
  await sweep(context, pending.stream) // a rebuild may have replaced the read models that were swept above
}

/** Temporary errors of PostgreSQL: the table does not exist yet, or another session holds a lock. */
const TEMPORARY_ERRORS = [SqlState.undefinedTable, SqlState.lockNotAvailable]

/**
 * Deletes orphaned rows, of deleted traces without a pending erasure: a rebuild or a replay applies deletions again that were
 * erased long ago.
 */
export const sweepOrphanedRows = async ({ client, groups, signal }: ErasureContext): Promise<void> => {
  for (const { group, schema } of groups) {
    try {
      while (await group.sweep?.(client, schema)) signal.throwIfAborted()
    } catch (error) {
      if (!hasSqlState(error, ...TEMPORARY_ERRORS)) throw error
    }
  }
}

/** Why an attempt failed, without the values that PostgreSQL quotes in its messages: they may be content. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof pg.DatabaseError) return `PostgreSQL refused the erasure with error ${error.code}`
  return error instanceof Error ? error.message : 'unknown'
}
