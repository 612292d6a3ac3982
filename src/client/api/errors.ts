import { escapeControls } from '../../base/escape.ts'
import { truncateText, LONG_TEXT } from '../../base/texts.ts'

type FailureDetails = {
  readonly status?: number
  readonly code?: string
  readonly retryAfterMs?: number
  readonly movedTo?: string
}

/**
 * The server has refused a request, or has not answered; then `status` is undefined. `message` is for users: shortened, and with
 * control characters escaped, because it may quote the server.
 */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly status: number | undefined
  readonly code: string | undefined
  readonly retryAfterMs: number | undefined
  /** The slug of the namespace to which the trace was moved. */
  readonly movedTo: string | undefined

  constructor(message: string, { status, code, retryAfterMs, movedTo }: FailureDetails = {}, options?: ErrorOptions) {
    super(escapeControls(truncateText(message, LONG_TEXT)), options)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.movedTo = movedTo
  }
}

/**
 * Whether the same request may succeed later: there was no answer, or the status 429 (too many requests), 502, 503 or 504 (the server
 * is overloaded, is starting, or does not answer its proxy).
 */
export const isTemporaryFailure = (error: unknown): boolean =>
  error instanceof RequestFailed && (error.status === undefined || [429, 502, 503, 504].includes(error.status))

/** Whether `error` is a RequestFailed with one of these statuses. */
export const hasStatus = (error: unknown, ...statuses: readonly number[]): error is RequestFailed =>
  error instanceof RequestFailed && error.status !== undefined && statuses.includes(error.status)
