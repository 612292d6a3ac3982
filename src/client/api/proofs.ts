import { type AnswerOf, type BodyFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

/** An answer has up to 8 MiB of entries, which are escaped once more, and their proofs. */
const MAX_BYTES = 64 << 20

export type MessageProofs = AnswerOf<'POST /v1/traces/{externalId}/proofs'>
export type ProvenMessageEvent = MessageProofs['events'][number]
export type DeletionProof = AnswerOf<'GET /v1/namespaces/{slug}/deletions/{traceId}/proof'>

/**
 * Proofs of events at `server`, for a member with `token`. Temporary failures are retried; an event that no checkpoint covers yet is a refusal with the status 404 and
 * `retryAfterMs`. Every method throws RequestFailed.
 */
export const newProofsClient = (server: string, token: string | undefined, timing: RetryTiming = realTiming) => {
  const { call } = newRequests(server, token, { timing, maxBytes: MAX_BYTES })
  return {
    /** The name of the log, and the key that signs it. */
    key: () => call('GET /v1/audit/key'),
    /** Proves that the tree of one size begins with that of another. */
    consistency: async (from: number, to: number) =>
      (await call('GET /v1/audit/consistency', { query: { from: `${from}`, to: `${to}` } })).proof,
    /** The event that a session begins with, and those that wrote these messages. */
    ofMessages: (externalId: string, namespace: string, body: BodyFor<'POST /v1/traces/{externalId}/proofs'>) =>
      call('POST /v1/traces/{externalId}/proofs', { path: { externalId }, query: { namespace }, body }),
    ofDeletion: (slug: string, traceId: string): Promise<DeletionProof> =>
      call('GET /v1/namespaces/{slug}/deletions/{traceId}/proof', { path: { slug, traceId } }),
  }
}
export type ProofsClient = ReturnType<typeof newProofsClient>
