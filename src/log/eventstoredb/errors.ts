import {
  AccessDeniedError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
} from '@eventstore/db-client'
import { LogUnavailable } from '../log.ts'

/** The client connects to the new leader by itself: the error holds its address. */
export const isNotLeader = (error: unknown): boolean => error instanceof NotLeaderError

/** Whether the call cannot have reached a server that would carry it out. */
export const isNeverSent = (error: unknown): boolean =>
  isNotLeader(error) ||
  /No connection established|Failed to discover|Server Is Not Ready|Channel closed before call started/.test(
    error instanceof Error ? error.message : '',
  )

/** Whether a read of the whole log failed because no record begins at its position. */
export const isNoRecord = (error: unknown): boolean =>
  error instanceof Error && /Unexpected ReadAllResult/.test(error.message)

/**
 * The error to throw where a retry cannot succeed; undefined where it may. `stored` says whether an earlier attempt may
 * have stored the append.
 */
export const permanentError = (error: unknown, stored: false | 'unknown' = false): Error | undefined => {
  if (error instanceof AccessDeniedError)
    return new LogUnavailable(stored, error, 'the log refuses the credentials of EVENTSTORE_URL')
  if (error instanceof MaxAppendSizeExceededError)
    return new LogUnavailable(
      stored,
      error,
      `the log takes ${error.maxAppendSize} bytes at once: set maxAppendBytes in EVENTSTORE_URL below that`,
    )
  if (error instanceof StreamDeletedError || error instanceof InvalidArgumentError) return error
  return undefined
}
