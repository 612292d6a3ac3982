import type { ErrorCode } from '../../contract/errors.ts'

/** The issues of a request, by field, as zod's `flattenError` returns them. */
export type Details = { formErrors: string[]; fieldErrors: Record<string, string[]> }

/** A request that is answered with an error, thrown from anywhere in the HTTP layer. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: ErrorCode
  readonly details: unknown
  /** After how many seconds the request may be sent again. */
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, message: string, details?: unknown, retryAfter?: number) {
    super(message)
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
  }
}

/** A 429 with `Retry-After`, in whole seconds. */
export const rateLimited = (waitMs: number, reason = 'Too many requests'): HttpError => {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new HttpError('rate_limited', `${reason}; try again in ${seconds} s`, undefined, seconds)
}

/** The request names a host that this service does not answer to. */
export class ForeignHost extends HttpError {
  readonly host: string

  /** `hasPublicUrl`: whether the service knows an address at which people reach it. */
  constructor(host: string, hasPublicUrl: boolean) {
    const setting = hasPublicUrl
      ? 'add this one to ALLOWED_HOSTS'
      : 'set PUBLIC_URL to its address if people reach it by this one, or add this one to ALLOWED_HOSTS'
    super(
      'forbidden',
      `This service does not answer to the host ${host}: use another name of the service, or ${setting}`,
    )
    this.host = host
  }
}

/** What is asked for is in another namespace now, which the caller may read. */
export class Moved extends HttpError {
  /** The slug of that namespace. */
  readonly to: string

  constructor(to: string) {
    super('not_found', `It was moved to the namespace ${to}: follow the header location`)
    this.to = to
  }

  /** The address in the other namespace: the first segment of a page's path, the parameter `namespace` of the API. */
  addressFor(url: string): string {
    if (url.startsWith('/@')) return url.replace(/^\/@[^/?]*/, `/@${this.to}`)
    const [path = ''] = url.split('?', 1)
    const parameters = new URLSearchParams(url.slice(path.length))
    parameters.set('namespace', this.to)
    return `${path}?${parameters.toString()}`
  }
}

export const notFound = () => new HttpError('not_found', 'Not found')
export const unauthorized = () => new HttpError('unauthorized', 'Authentication required')

/** A 400: its details say what is wrong, field by field; the message is always the same. */
export const invalidRequest = (details: Details): HttpError =>
  new HttpError('invalid_request', 'Invalid request', details)

/** A 400 with one issue, of a field or of the request as a whole. */
export const invalid = (field: string | undefined, issue: string) =>
  invalidRequest({
    formErrors: field === undefined ? [issue] : [],
    fieldErrors: field === undefined ? {} : { [field]: [issue] },
  })
