import { z } from 'zod'
import { errorMessage } from '../../cli/exit.ts'
import { jsonOf, networkReason } from './answer-data.ts'
import { RequestFailed } from './errors.ts'
import { exchange, MAX_BYTES } from './exchange.ts'

const TIMEOUT_MS = 5_000

const Health = z.object({
  status: z.enum(['ready', 'not ready']),
  missing: z.array(z.string()).optional(),
  degraded: z.array(z.string()).optional(),
})

/** The health of a server; `out of reach` also where something other than Tracebook answers. */
export type Probe =
  | { readonly is: 'ready'; readonly degraded: readonly string[] }
  | { readonly is: 'not ready'; readonly missing: readonly string[] }
  | { readonly is: 'out of reach'; readonly why: string }

/** Asks a server for its health once, without a token, for at most five seconds. Never rejects. */
export const probe = async (server: string): Promise<Probe> => {
  try {
    const request = { url: `${server}/health/ready`, method: 'GET', headers: {} }
    const { status, text } = await exchange(request, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
    const { data } = Health.safeParse(jsonOf(text))
    if (!data) return { is: 'out of reach', why: `something else answers there, with status ${status}` }
    if (data.status === 'ready') return { is: 'ready', degraded: data.degraded ?? [] }
    return { is: 'not ready', missing: data.missing ?? [] }
  } catch (error) {
    return { is: 'out of reach', why: error instanceof RequestFailed ? errorMessage(error) : networkReason(error) }
  }
}
