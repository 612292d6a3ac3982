import { z } from 'zod'
import { errorMessage } from '../../cli/exit.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { RequestFailed } from './errors.ts'
import { networkReason } from './answer-data.ts'

const TIMEOUT_MS = 5_000

const Health = z.object({
  status: z.enum(['ready', 'not ready']),
  missing: z.array(z.string()).optional(),
  degraded: z.array(z.string()).optional(),
})

/** What a server says of itself; `why` when it does not answer, or not like Tracebook. */
export type Probe =
  | { readonly is: 'ready'; readonly degraded: readonly string[] }
  | { readonly is: 'not ready'; readonly missing: readonly string[] }
  | { readonly is: 'out of reach'; readonly why: string }

/** Asks a server once, without a token, for at most five seconds. Never rejects. */
export const probe = async (server: string): Promise<Probe> => {
  try {
    const response = await boundedFetch(new Request(`${server}/health/ready`, { redirect: 'manual' }), TIMEOUT_MS)
    const { data } = Health.safeParse(await response.json().catch(() => undefined))
    if (!data) return { is: 'out of reach', why: `something else answers there, with status ${response.status}` }
    if (data.status === 'ready') return { is: 'ready', degraded: data.degraded ?? [] }
    return { is: 'not ready', missing: data.missing ?? [] }
  } catch (error) {
    return { is: 'out of reach', why: error instanceof RequestFailed ? errorMessage(error) : networkReason(error) }
  }
}
