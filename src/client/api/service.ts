import { isTemporaryFailure, RequestFailed } from './errors.ts'
import { type AnswerOf, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

/** What a service says of itself to everybody. */
export type ServiceInfo = AnswerOf<'GET /v1/service'>

const TIMEOUT_MS = 10_000

/**
 * What the service at an address says of itself, asked without a token; undefined for one of an older version, which does not know the
 * question. @throws RequestFailed if it does not answer
 */
export const askService = async (server: string, timing: RetryTiming): Promise<ServiceInfo | undefined> => {
  try {
    return await newRequests(server, undefined, { timing, timeoutMs: TIMEOUT_MS }).call('GET /v1/service')
  } catch (error) {
    if (error instanceof RequestFailed && !isTemporaryFailure(error)) return undefined
    throw error
  }
}

/** The same, tried once: for an address at which there may be nothing any more. */
export const askServiceOnce = (server: string): Promise<ServiceInfo | undefined> =>
  askService(server, { ...realTiming, patienceMs: 0 })
