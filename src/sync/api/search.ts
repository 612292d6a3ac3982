import { type AnswerOf, type QueryFor, newRequests } from './requests.ts'
import { type RetryTiming, realTiming } from './retry.ts'

export type SearchPage = AnswerOf<'GET /v1/search'>

/** Searches at `server`, with a session's `token` if there is one. @throws RequestFailed */
export const newSearchClient = (server: string, token: string | undefined, timing: RetryTiming = realTiming) => {
  const { call } = newRequests(server, token, { timing })
  return (query: QueryFor<'GET /v1/search'>): Promise<SearchPage> => call('GET /v1/search', { query })
}
