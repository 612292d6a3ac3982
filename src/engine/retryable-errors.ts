import pg from 'pg'
import { LogUnavailable } from '../log/log.ts'
import { isTransient } from '../postgres/connect.ts'
import { SessionLost } from '../postgres/leader.ts'
import { isCheckpointMoved } from './checkpoint.ts'
import { UnknownEvent } from './codec.ts'

/** A rebuild cannot begin while another one, or a reader of what one has left, is in its way. */
export class RebuildBlocked extends Error {
  override readonly name = 'RebuildHeldUp'
}

/** Whether the same again may pass: the database went away, or another runner was faster. Never for a wrong event. */
export const isRetryable = (error: unknown): boolean => {
  if (error instanceof UnknownEvent) return false
  if (error instanceof RebuildBlocked) return true
  if (isCheckpointMoved(error) || error instanceof LogUnavailable || error instanceof SessionLost) return true
  return error instanceof pg.DatabaseError ? isTransient(error) : isConnectionError(error)
}

/** Whether what the process stands on is away, or has hung up: nothing that this process could do better. */
export const isOutage = (error: unknown): boolean => {
  if (error instanceof LogUnavailable || error instanceof SessionLost) return true
  return error instanceof pg.DatabaseError ? /^(08|57P|58|53300)/.test(error.code ?? '08') : isConnectionError(error)
}

/** An error of the socket or the driver. */
const isConnectionError = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return /^E[A-Z]+$/.test(String(code)) || /connection|terminated|timeout|not queryable/i.test(message)
}
