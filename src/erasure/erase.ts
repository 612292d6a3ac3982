import pg from 'pg'
import type { Client } from '../engine/checkpoint.ts'
import type { Codec } from '../engine/codec.ts'
import type { OpenGroup } from '../engine/open-groups.ts'
import type { EventLog } from '../log/log.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import { dropOtherSchemas } from './other-schemas.ts'
import { beginsInItsMiddle, eraseRemnant } from './remnant.ts'
import type { PendingErasure } from './pending-erasures.ts'

/** The parts of a group of read models that erasure uses. */
export type ErasedGroup = Pick<OpenGroup, 'group' | 'schema' | 'watermark' | 'quarantine'>

export type ErasureContext = {
  readonly client: Client
  readonly url: string
  readonly log: EventLog
  readonly codec: Codec
  readonly groups: readonly ErasedGroup[]
  /** Whether schemas that no process locks are unused: after an outage processes have to lock again what they use. */
  readonly mayDropSchemas: () => boolean
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

/** @throws NotErasableYet for a deletion that the log has lost */
const assertHeld = async ({ log }: ErasureContext, { position, eventId }: PendingErasure) => {
  if (eventId !== null && (await log.holds(position, eventId)) === false)
    throw new NotErasableYet('the log does not hold its deletion')
}

/** @throws NotErasableYet for a stream in quarantine, whose deletion is not applied; a remnant leaves it */
const leaveQuarantine = async (context: ErasureContext, { stream, before }: PendingErasure) => {
  const groups = context.groups.filter(({ quarantine }) => !quarantine.isNotQuarantined(stream))
  if (groups.length === 0) return
  if (!(await beginsInItsMiddle(context.log, stream))) throw new NotErasableYet('the stream is in quarantine')
  await eraseRemnant(context, groups, stream, before)
}

const sweep = async ({ client, groups, signal }: ErasureContext, stream: string): Promise<void> => {
  for (const { group, schema } of groups) {
    while (await group.sweep?.(client, schema, stream)) signal.throwIfAborted()
  }
}

/** @throws NotErasableYet while there are read models beside those that serve, which may have applied what was erased */
const assertNoOthers = async ({ client, groups, mayDropSchemas }: ErasureContext) => {
  const all = groups.map(({ group }) => group)
  const left = await dropOtherSchemas(client, all, mayDropSchemas())
  if (left.length > 0)
    throw new NotErasableYet(
      `read models beside those that serve, which may hold the content, are in use: ${left.join(', ')}`,
    )
}

/**
 * Erases a deleted trace from all read models and from the log. Read models that are built later do not find it there. May be
 * interrupted and repeated at any point.
 * @throws NotErasableYet
 */
export const erase = async (context: ErasureContext, pending: PendingErasure): Promise<void> => {
  await assertHeld(context, pending)
  await leaveQuarantine(context, pending)
  await sweep(context, pending.stream)
  await context.log.truncate(pending.stream, pending.before)
  await assertNoOthers(context)
  await sweep(context, pending.stream) // a rebuild may have put its read models in the place of those that were swept
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
