import { hidden } from '../engine/rejected.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { traceId } from '../ids.ts'
import type { Service } from '../service.ts'
import type { Member } from './policy.ts'
import { memberOf, resolveTrace } from './queries.ts'

/** Where a write to an existing trace goes, and as whom: the decision itself checks the write policy. */
export type Located = { readonly id: string; readonly writer: Member }

/**
 * Resolves an externalId for a write. A trace of the session's namespace that is in memory needs no query.
 * @throws 404 when there is no such trace, and when its namespace is not the caller's
 */
export const locate = async ({ traces, reads }: Service, caller: Caller, externalId: string): Promise<Located> => {
  if (caller.namespace) {
    const id = traceId(caller.namespace.id, externalId)
    if (traces.peek(id)?.is === 'present') return { id, writer: { userId: caller.userId, role: caller.namespace.role } }
  }
  const hit = await resolveTrace(reads, externalId, caller)
  if (!hit) throw notFound()
  // Not left to the decision, which would load the trace first: how long a refusal takes must not tell what is there.
  if (hit.role === undefined) throw hidden()
  return { id: hit.id, writer: memberOf(caller, hit)! }
}
