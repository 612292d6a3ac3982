import { type AnswerOf, type BodyFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

export type AttributionKey = AnswerOf<'GET /v1/namespaces/{slug}/attribution-key'>['key']
export type Attributions = AnswerOf<'POST /v1/namespaces/{slug}/attributions'>
export type AttributedRange = Attributions['hunks'][number]['ranges'][number]
export type AttributedLines = Attributions['lines']
export type Question = BodyFor<'POST /v1/namespaces/{slug}/attributions'>
export type Hunk = Question['hunks'][number]
export type CommitsQuestion = BodyFor<'POST /v1/namespaces/{slug}/commits'>
export type CommitAnswer = AnswerOf<'POST /v1/namespaces/{slug}/commits'>['commits'][number]

/** An answer names the session of each range: up to 5,000 of them. */
const MAX_BYTES = 32 << 20

/**
 * Which sessions of a namespace wrote lines, at `server`, for a member with `token`. Temporary failures are retried. Every method throws RequestFailed.
 */
export const newAttributionClient = (server: string, token: string, slug: string, timing: RetryTiming = realTiming) => {
  const { call } = newRequests(server, token, { timing, maxBytes: MAX_BYTES })
  return {
    /** The key with which lines are hashed. */
    key: async () => (await call('GET /v1/namespaces/{slug}/attribution-key', { path: { slug } })).key,
    /** Changes nothing. */
    ask: (body: Question): Promise<Attributions> =>
      call('POST /v1/namespaces/{slug}/attributions', { path: { slug }, body }),
    /** Asks for commits, and records the answers. */
    record: async (body: CommitsQuestion) =>
      (await call('POST /v1/namespaces/{slug}/commits', { path: { slug }, body })).commits,
  }
}
export type AttributionClient = ReturnType<typeof newAttributionClient>
