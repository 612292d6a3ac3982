import type { Asking, Service } from './service.ts'

/** What a request came to. `maybe`: no answer, or one that says that nobody knows. */
export type Came =
  | { readonly is: 'answered'; readonly status: number; readonly data: unknown }
  | { readonly is: 'stored' | 'refused' | 'maybe' }

/** Longer than anybody has to wait, also for a service that was stopped for some seconds. */
const HUNG_MS = 40_000

const codeOf = (error: unknown): string => (error as { cause?: { code?: string } }).cause?.code ?? String(error)

const NEVER_SENT = ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']

/** An answer of 503 has to say when to come back, and of a write what became of it (readings: Errors). */
const unavailable = (method: string, words: string, headers: Headers, stored: unknown): Came => {
  if (!headers.get('retry-after')) throw new Error(`a 503 without Retry-After: ${words}`)
  if (method === 'GET') return { is: 'refused' }
  if (stored === true) return { is: 'stored' }
  if (stored === false) return { is: 'refused' }
  if (stored === 'unknown') return { is: 'maybe' }
  throw new Error(`a 503 that does not say what became of the write: ${words}`)
}

/**
 * Asks, and says what is known afterwards. @throws Error for an answer that must never be given, or for none at all
 */
export const ask = async (service: Service, method: string, path: string, asking: Asking): Promise<Came> => {
  const words = `${method} ${path}`
  let answer: Awaited<ReturnType<Service['call']>>
  try {
    answer = await service.call(method, path, { ...asking, signal: AbortSignal.timeout(HUNG_MS) })
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') throw new Error(`${words} hangs`, { cause: error })
    return { is: NEVER_SENT.includes(codeOf(error)) ? 'refused' : 'maybe' }
  }
  const { status, headers, data, error } = answer
  if (status === 503) {
    return unavailable(method, `${words} ${JSON.stringify(error)}`, headers, error?.details?.stored)
  }
  if (status >= 400 && status !== 404) throw new Error(`${words}: ${status} ${JSON.stringify(error)}`)
  return { is: 'answered', status, data }
}
