import { z } from 'zod'
import { RequestFailed } from './errors.ts'

const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) })
const Success = z.object({ ok: z.literal(true), data: z.record(z.string(), z.unknown()) })

type Answer<Data> = {
  readonly data?: { readonly ok: true; readonly data: Data }
  readonly error?: unknown
  readonly response: Response
}

/** A request that is not yet made, so that it can be made again. */
export type Asking<Data> = () => Promise<Answer<Data>>

const retryAfterOf = (header: string | null): number | undefined => {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

const reasonOf = (error: unknown): string => {
  const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return 'no answer in time'
  return cause?.code === 'ECONNREFUSED' ? 'connection refused' : (cause?.message ?? cause?.code ?? String(error))
}

const strange = 'it does not answer like Tracebook'

const refusal = (server: string, { error, response }: Answer<unknown>): RequestFailed => {
  const { status, headers, ok } = response
  const refused = Refused.safeParse(error).data?.error
  const retryAfterMs = retryAfterOf(headers.get('retry-after'))
  const place = headers.get('location')
  const said = place ? `it moved to ${place}` : ok ? strange : `status ${status}`
  return new RequestFailed(refused?.message ?? `${server}: ${said}`, {
    status,
    ...(refused && { code: refused.code }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

const failure = (server: string, error: unknown): unknown => {
  if (error instanceof SyntaxError) return new RequestFailed(`${server}: ${strange}`, { status: 200 }, { cause: error })
  // What fetch says of a way that is cut, and of one that takes too long.
  if (!(error instanceof TypeError || error instanceof DOMException)) return error
  return new RequestFailed(`cannot reach ${server}: ${reasonOf(error)}`, {}, { cause: error })
}

/** Asks `server` and takes the data out of the envelope. Throws RequestFailed for all else. */
export const answered = async <Data>(server: string, ask: Asking<Data>): Promise<Data> => {
  const answer = await ask().catch((error: unknown) => {
    throw failure(server, error)
  })
  if (answer.data && Success.safeParse(answer.data).success) return answer.data.data
  throw refusal(server, answer)
}
