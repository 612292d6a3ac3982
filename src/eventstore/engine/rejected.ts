import { Busy } from '../../base/permits.ts'
import { ifLate } from '../../base/waits.ts'

/** Why a command was refused. `src/contract/errors.ts` has the HTTP status of each code; `slug_taken` is answered as an `invalid_request`. */
export type Rejection =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'quota_exceeded'
  | 'payload_too_large'
  | 'not_found'
  | 'changed'
  | 'exists'
  | 'key_changed'
  | 'last_admin'
  | 'last_identity'
  | 'device_known'
  | 'slug_taken'
  | 'deleted'
  | 'invite_revoked'
  | 'invite_expired'
  | 'invite_used'
  | 'code_used'
  | 'code_expired'

/** The domain refuses a command. Any other error that a decision throws is a bug. */
export class Rejected extends Error {
  override readonly name = 'Rejected'
  readonly code: Rejection
  /** Whether the answer hides that the thing exists: then `not_found` means that this caller may not see it. */
  readonly hidesExistence: boolean
  /** Details for programs, sent with the message. */
  readonly details: object | undefined
  /** The position of the newest event that the decision was made on, if it is known. */
  position: bigint | undefined

  constructor(code: Rejection, message: string = code, more: { hidesExistence?: boolean; details?: object } = {}) {
    super(message)
    this.code = code
    this.hidesExistence = more.hidesExistence ?? false
    this.details = more.details
  }
}

/**
 * The database or the log cannot be reached, or is too slow. `stored` says whether the events of a write are in the log. The message is for
 * the log of the service: clients are only told to try again, unless the error is an `ExplainedUnavailable`.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  readonly stored: boolean | 'unknown'

  constructor(message: string, stored: boolean | 'unknown' = false, cause?: unknown) {
    super(message, { cause })
    this.stored = stored
  }
}

/** The message is shown to clients: it says why the request cannot be answered now, and what to do. */
export class ExplainedUnavailable extends Unavailable {}

/** The disk is nearly full: nothing was stored, and reads continue. */
export class DiskFull extends ExplainedUnavailable {
  constructor() {
    super('The disk of the service is nearly full. Nothing was stored. Reads still work; try again when there is space')
  }
}

/** For work that the answer to a write needs after the write was stored: if it throws `Unavailable`, that says `stored: true`. */
export const afterStored = async <T>(work: T | Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    const isTemporary = error instanceof Unavailable || error instanceof Busy
    throw isTemporary ? new Unavailable(error.message, true, error) : error
  }
}

/** A stream is in quarantine: one of its events could not be applied, so its rows in the read models may be wrong. */
export class InQuarantine extends ExplainedUnavailable {
  /** `what` is the stream's category, for the message. */
  constructor(what: string) {
    super(`This ${what} is in quarantine: one of its events could not be applied. Ask the operator of the service`)
  }
}

/** For callers who must not learn that the thing exists: the same answer as if it did not. */
export const hiddenNotFound = (): Rejected => new Rejected('not_found', 'Not found', { hidesExistence: true })

/** Rejects with `Unavailable` and this message if `work` takes longer than `ms`. The work itself continues: `stored` says whether its events may still be stored. */
export const withTimeout = <T>(
  ms: number,
  message: string,
  work: Promise<T>,
  stored: Unavailable['stored'] = false,
): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  return ifLate(ms, () => reject(new Unavailable(message, stored)), Promise.race([work, late]))
}
