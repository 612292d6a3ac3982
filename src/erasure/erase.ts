import pg from 'pg'
import type { Client } from '../engine/checkpoint.ts'
import type { OpenGroup } from '../engine/open-group.ts'
import type { EventLog } from '../log/log.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import type { PendingErasure } from './pending-erasures.ts'

/** The parts of a group of read models that erasure uses. */
export type ErasedGroup = Pick<OpenGroup, 'group' | 'schema' | 'watermark' | 'quarantine'>

export type ErasureContext = {
  readonly client: Client
  readonly log: EventLog
  readonly groups: readonly ErasedGroup[]
  readonly signal: AbortSignal
}

/** A stream that cannot be erased now; the message says why. */
class NotErasableYet extends Error {
  override readonly name = 'NotErasableYet'
}

/** Whether all read models have applied the deletion at this position, so that the trace cannot be read. Waits up to `ms`. */
export const haveAllPassed = (groups: readonly ErasedGroup[], position: bigint, ms: number): Promise<boolean> =>
  Promise.all(groups.map(({ watermark }) => watermark.waitFor(position, ms))).then(
    () => true,
    () => false,
  )

/**
 * @throws NotErasableYet for a stream in quarantine, whose deletion is not applied, and for a deletion that the log has lost
 */
const assertDeleted = async ({ log, groups }: ErasureContext, { stream, position, eventId }: PendingErasure) => {
  if (groups.some(({ quarantine }) => !quarantine.isNotQuarantined(stream)))
    throw new NotErasableYet('the stream is in quarantine')
  if (eventId !== null && (await log.holds(position, eventId)) === false)
    throw new NotErasableYet('the log does not hold its deletion')
}

/** Erases a deleted trace from all read models, then from the log. May be interrupted and repeated at any point. */
export const erase = async (context: ErasureContext, pending: PendingErasure): Promise<void> => {
  const { client, log, groups, signal } = context
  await assertDeleted(context, pending)
  for (const { group, schema } of groups) {
    while (await group.sweep?.(client, schema, pending.stream)) signal.throwIfAborted()
  }
  await log.truncate(pending.stream, pending.before)
}

/** Errors of PostgreSQL that will pass: the table does not exist yet, or another session holds a lock. */
const PASSING_ERRORS = [SqlState.undefinedTable, SqlState.lockNotAvailable]

/**
 * Erases rows of deleted traces that have no pending erasure: a rebuild or a replay of the log applies deletions again whose
 * erasure was completed long ago.
 */
export const sweepLeftovers = async ({ client, groups, signal }: ErasureContext): Promise<void> => {
  for (const { group, schema } of groups) {
    try {
      while (await group.sweep?.(client, schema)) signal.throwIfAborted()
    } catch (error) {
      if (!hasSqlState(error, ...PASSING_ERRORS)) throw error
    }
  }
}

/** Why an attempt failed, without the values that PostgreSQL quotes in its messages. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof pg.DatabaseError) return `PostgreSQL refuses it (${error.code})`
  return error instanceof Error ? error.message : 'unknown'
}
