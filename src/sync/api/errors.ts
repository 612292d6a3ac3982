import { plain } from '../../cli/escape.ts'
import { cutTo, LONG_TEXT } from '../../text-caps.ts'

type Refusal = { readonly status?: number; readonly code?: string; readonly retryAfterMs?: number }

/**
 * The server refused a request, or did not answer it: then without `status`. `message` is fit for users and for a terminal,
 * whatever the server said.
 */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly status: number | undefined
  readonly code: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(message: string, { status, code, retryAfterMs }: Refusal = {}, options?: ErrorOptions) {
    super(plain(cutTo(message, LONG_TEXT)), options)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/** Whether the same request may pass later: no answer, too many requests, or a server that is not up to it now. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof RequestFailed && (error.status === undefined || [429, 502, 503, 504].includes(error.status))

/** Whether `error` is a refusal with this status. */
export const hasStatus = (error: unknown, ...statuses: readonly number[]): error is RequestFailed =>
  error instanceof RequestFailed && error.status !== undefined && statuses.includes(error.status)
