/** Why a command was refused. HTTP statuses belong to these codes in one table (`src/http/errors.ts`). */
export type Rejection =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'quota_exceeded'
  | 'payload_too_large'
  | 'not_found'
  | 'last_admin'
  | 'last_identity'
  | 'slug_taken'
  | 'invite_revoked'
  | 'invite_expired'
  | 'invite_used'

/** A command that the domain refuses. Only decisions throw it; anything else that is thrown is a fault. */
export class Rejected extends Error {
  override readonly name = 'Rejected'
  readonly code: Rejection
  /** That the answer must not say that there is something to be refused. */
  readonly hidesExistence: boolean

  constructor(code: Rejection, message: string = code, hides = false) {
    super(message)
    this.code = code
    this.hidesExistence = hides
  }
}

/** Something the service needs is away. `stored` says of a write what is known about it. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  readonly stored: boolean | 'unknown'

  constructor(message: string, stored: boolean | 'unknown' = false, cause?: unknown) {
    super(message, { cause })
    this.stored = stored
  }
}

/** What an answer needs besides a write that is stored: when that is away, the answer says what became of the write. */
export const afterStored = async <T>(work: T | Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    throw error instanceof Unavailable ? new Unavailable(error.message, true, error) : error
  }
}

/** What a request is about cannot be answered from the read models: an event of its stream could not be applied. */
export class InQuarantine extends Unavailable {
  /** `what` is the kind of thing that the stream is about. */
  constructor(what: string) {
    super(`This ${what} is in quarantine: an event of it could not be applied, an operator has to look at it`)
  }
}

/** Looks like what is not there, to somebody who may not know that it is. */
export const hiddenNotFound = (): Rejected => new Rejected('not_found', 'Not found', true)
