import { z } from 'zod'
import { untrustedCertificate } from '../../base/untrusted-certificate.ts'
import { RequestFailed } from './errors.ts'
import type { Answer } from './exchange.ts'

/** The details of a refusal: what is wrong with the request as a whole, and with its fields; or where the trace was moved to. */
const Details = z.object({
  formErrors: z.array(z.string()).default([]),
  fieldErrors: z.record(z.string(), z.array(z.string())).default({}),
  movedTo: z.string().optional(),
})

const ErrorEnvelope = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: Details.optional().catch(undefined) }),
})
const DataEnvelope = z.object({ ok: z.literal(true), data: z.record(z.string(), z.unknown()) })

/** The milliseconds in a `Retry-After` header, which contains seconds or a date; undefined if there is no such header. */
const parseRetryAfter = (header: string | null): number | undefined => {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Descriptions of connection errors by their codes. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no host has this name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS: try http:// instead of https://',
}

/** Why no answer came, from an error of `exchange` or `fetch`. */
export const networkReason = (error: unknown): string => {
  const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return 'no answer in time'
  return MEANINGS[cause?.code ?? ''] ?? untrustedCertificate(cause) ?? cause?.message ?? cause?.code ?? String(error)
}

const notTracebook = 'this is not the address of a Tracebook server'

/** The service's message, with the reasons in its details. */
const messageOf = ({ message, details }: z.infer<typeof ErrorEnvelope>['error']): string => {
  const ofFields = Object.entries(details?.fieldErrors ?? {}).map(
    ([field, reasons]) => `${field} ${reasons.join(', ')}`,
  )
  const reasons = [...(details?.formErrors ?? []), ...ofFields].filter((reason) => !message.includes(reason))
  return reasons.length === 0 ? message : `${message}: ${reasons.join('; ')}`
}

/** The namespace in the address to which a request for a trace is redirected. */
const namespaceIn = (location: string | null): string | undefined =>
  (location === null ? null : URL.parse(location, 'http://of.service'))?.searchParams.get('namespace') ?? undefined

/** The error for an answer that does not contain what was asked for. */
export const refusal = (server: string, { status, headers, text }: Answer): RequestFailed => {
  const known = ErrorEnvelope.safeParse(jsonOf(text)).data?.error
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'))
  const location = headers.get('location')
  const movedTo = known?.details?.movedTo ?? (status === 308 ? namespaceIn(location) : undefined)
  const reason = location ? `it moved to ${location}` : isOk(status) ? notTracebook : `status ${status}`
  return new RequestFailed(known ? messageOf(known) : `${server}: ${reason}`, {
    status,
    ...(known && { code: known.code }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(movedTo === undefined ? {} : { movedTo }),
  })
}

/** The error if there is no answer, from what `exchange` and `fetch` throw. */
export const networkError = (server: string, error: unknown): unknown => {
  // Both reject with a TypeError if the connection fails, and with a DOMException after a timeout.
  if (!(error instanceof TypeError || error instanceof DOMException)) return error
  return new RequestFailed(`cannot reach ${server}: ${networkReason(error)}`, {}, { cause: error })
}

const isOk = (status: number) => status >= 200 && status <= 299

/** The value of a JSON text; undefined if the text is not JSON. */
export const jsonOf = (text: string, parse: (text: string) => unknown = JSON.parse): unknown => {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

/**
 * The `data` of an answer `{ ok: true, data }`, parsed by `parse`. Throws RequestFailed if the server has refused the request, or
 * answered anything else.
 */
export const answerData = (server: string, answer: Answer, parse: (text: string) => unknown): unknown => {
  const found = isOk(answer.status) ? DataEnvelope.safeParse(jsonOf(answer.text, parse)) : undefined
  if (!found?.success) throw refusal(server, answer)
  return found.data.data
}
