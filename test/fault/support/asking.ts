import type { Asking, Service } from './service.ts'

/**
 * The outcome of a request. `maybe`: there was no answer, or one that does not say whether the write is stored. `stored`: the write is
 * stored, but may not be visible yet.
 */
export type Came = (
  | { readonly is: 'answered'; readonly status: number; readonly data: unknown }
  | { readonly is: 'stored' | 'refused' | 'maybe' }
) & {
  /** Whether the data were copied during the request. */
  readonly duringCopy?: boolean
}

/** Longer than any request may take, also to a service that was stopped for some seconds. */
const HUNG_MS = 40_000

/** Aborts a request that takes too long; the time in which the service is frozen does not count. */
const patienceFor = ({ isFrozen = () => false }: Service) => {
  const end = new AbortController()
  let left = HUNG_MS / 1_000
  const timer = setInterval(() => {
    if (isFrozen()) left = HUNG_MS / 1_000
    else if (--left <= 0) end.abort(new DOMException('nothing has come', 'TimeoutError'))
  }, 1_000)
  return { signal: end.signal, stop: () => clearInterval(timer) }
}

const codeOf = (error: unknown): string => (error as { cause?: { code?: string } }).cause?.code ?? String(error)

const NEVER_SENT = ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']

/** Asserts that a 503 says when to try again, and whether a write is stored. */
const unavailable = (method: string, words: string, headers: Headers, stored: unknown): Came => {
  if (!headers.get('retry-after')) throw new Error(`a 503 without Retry-After: ${words}`)
  if (method === 'GET') return { is: 'refused' }
  if (stored === true) return { is: 'stored' }
  if (stored === false) return { is: 'refused' }
  if (stored === 'unknown') return { is: 'maybe' }
  throw new Error(`a 503 that does not say what became of the write: ${words}`)
}

const askOnce = async (service: Service, method: string, path: string, asking: Asking): Promise<Came> => {
  const words = `${method} ${path}`
  const patience = patienceFor(service)
  let answer: Awaited<ReturnType<Service['call']>>
  try {
    answer = await service.call(method, path, { ...asking, signal: patience.signal })
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') throw new Error(`${words} hangs`, { cause: error })
    return { is: NEVER_SENT.includes(codeOf(error)) ? 'refused' : 'maybe' }
  } finally {
    patience.stop()
  }
  const { status, headers, data, error } = answer
  if (status === 503) {
    return unavailable(method, `${words} ${JSON.stringify(error)}`, headers, error?.details?.stored)
  }
  if (status >= 400 && status !== 404) throw new Error(`${words}: ${status} ${JSON.stringify(error)}`)
  return { is: 'answered', status, data }
}

let writes = 0

/** How many writes services have acknowledged in this process. */
export const acknowledgedWrites = (): number => writes

/**
 * Sends a request, and returns its outcome. If data were lost during the request, its answer counts for nothing.
 * @throws Error for an answer that must never be given, or if there is no answer at all
 */
export const ask = async (service: Service, method: string, path: string, asking: Asking): Promise<Came> => {
  const { moments } = service
  const [copies, losses] = [moments?.copies(), moments?.losses()]
  const hasLost = () => moments?.losses() !== losses
  const unknown: Came = { is: method === 'GET' ? 'refused' : 'maybe' }
  const came = await askOnce(service, method, path, asking).catch((error: Error) => {
    if (hasLost()) return unknown
    throw error
  })
  if (method !== 'GET' && came.is === 'answered' && came.status === 200) writes += 1
  if (hasLost() && came.is !== 'refused') return unknown
  return moments?.copies() === copies ? came : { ...came, duringCopy: true }
}
