import type { ServiceError } from '@grpc/grpc-js'
import {
  AccessDeniedError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
} from '@eventstore/db-client'
import { LogUnavailable } from '../log.ts'
import { NotConnected } from './append-call.ts'

/** The status of gRPC for a request that would be refused at any time. */
const INVALID_ARGUMENT = 3

/** Whether the server refused a call because it is no longer the leader. The client then connects to the new leader, whose address the error has. */
export const isNotLeader = (error: unknown): boolean => error instanceof NotLeaderError

/** Whether the call cannot have reached a server that would execute it. */
export const isNeverSent = (error: unknown): boolean =>
  isNotLeader(error) ||
  error instanceof NotConnected ||
  /No connection established|Failed to discover|Server Is Not Ready|Channel closed before call started/.test(
    error instanceof Error ? error.message : '',
  )

/** Whether the server gives this name to an error, which the client has no class for. */
const hasException = (error: unknown, name: string): boolean =>
  (error as { _raw?: Partial<ServiceError> } | undefined)?._raw?.metadata?.get('exception')[0] === name

/** Whether a read of the whole log failed because there is no record at its position. */
export const isNoRecord = (error: unknown): boolean =>
  error instanceof Error && /Unexpected ReadAllResult/.test(error.message)

/**
 * The error to throw if a retry cannot succeed; undefined if it may. `stored` says whether an earlier attempt may
 * have stored the append.
 */
export const permanentError = (error: unknown, stored: false | 'unknown' = false): Error | undefined => {
  if (error instanceof AccessDeniedError)
    return new LogUnavailable(stored, error, 'the log refuses the user or password in EVENTSTORE_URL: check them')
  if (hasException(error, 'maximum-append-event-size-exceeded'))
    return new LogUnavailable(
      stored,
      error,
      'an event is larger than the log accepts: set maxAppendBytes in EVENTSTORE_URL to less than its limit for events',
    )
  if (error instanceof MaxAppendSizeExceededError)
    return new LogUnavailable(
      stored,
      error,
      `the log accepts at most ${error.maxAppendSize} bytes at once: set maxAppendBytes in EVENTSTORE_URL to less`,
    )
  if (error instanceof StreamDeletedError || error instanceof InvalidArgumentError) return error
  if ((error as Partial<ServiceError> | undefined)?.code === INVALID_ARGUMENT) return error as Error
  return undefined
}
