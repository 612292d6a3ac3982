import {
  AccessDeniedError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
} from '@eventstore/db-client'
import { LogUnavailable } from '../log.ts'

/** The client follows the new leader by itself, with the address that came with the error. */
export const isNotLeader = (error: unknown): boolean => error instanceof NotLeaderError

/** Nothing of the call can have reached a server that would act on it. */
export const isNeverSent = (error: unknown): boolean =>
  isNotLeader(error) ||
  /No connection established|Failed to discover|Server Is Not Ready|Channel closed before call started/.test(
    error instanceof Error ? error.message : '',
  )

/** A read of everything that was to begin where no record begins. */
export const isNoRecord = (error: unknown): boolean =>
  error instanceof Error && /Unexpected ReadAllResult/.test(error.message)

/** Why the same again cannot pass, as the error to throw; nothing when it may. `stored`: by an earlier attempt. */
export const hopeless = (error: unknown, stored: false | 'unknown' = false): Error | undefined => {
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
