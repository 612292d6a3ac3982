import pg from 'pg'
import { Busy } from '../../base/permits.ts'
import { LogUnavailable } from '../log/log.ts'
import { isAway, isTransient } from '../postgres/errors.ts'
import { SessionLost } from '../postgres/leader.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import { isCheckpointMoved } from './checkpoint.ts'
import { UnknownEvent } from './codec.ts'

/** A rebuild cannot start: another one is running, or a query still reads a schema of an earlier one. */
export class RebuildBlocked extends Error {
  override readonly name = 'RebuildBlocked'
}

/** Whether the same batch may succeed at the next try: the connection or another runner is the cause, not the event. */
export const isRetryable = (error: unknown): boolean => {
  if (error instanceof UnknownEvent) return false
  if (error instanceof RebuildBlocked || error instanceof Busy) return true
  if (isCheckpointMoved(error) || error instanceof LogUnavailable || error instanceof SessionLost) return true
  return error instanceof pg.DatabaseError ? isTransient(error) : isConnectionError(error)
}

/** Whether the database or the log cannot be reached, or has ended the connection: an outage, not a bug of this process. */
export const isOutage = (error: unknown): boolean => {
  if (error instanceof LogUnavailable || error instanceof SessionLost) return true
  if (!(error instanceof pg.DatabaseError)) return isConnectionError(error)
  return isAway(error) || hasSqlState(error, SqlState.tooManyConnections)
}

/** An error of the socket or the driver. */
const isConnectionError = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return /^E[A-Z]+$/.test(String(code)) || /connection|terminated|timeout|not queryable/i.test(message)
}
