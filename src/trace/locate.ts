import { Rejected } from '../engine/rejected.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { traceId } from '../ids.ts'
import { type UserRole, assertMayWrite, mayWrite } from './policy.ts'
import { userRoleOf, resolveTrace } from './queries.ts'
import type { TraceServices } from './services.ts'

/** Where a write to an existing trace goes, and as whom: the decision itself checks the write policy. */
export type Located = { readonly id: string; readonly namespaceId: string; readonly writer: UserRole }

/** A trace of the session's namespace that this node remembers: it may have been deleted on another one. */
export const remembered = ({ traces }: TraceServices, caller: Caller, externalId: string): Located | undefined => {
  if (!caller.namespace) return undefined
  const id = traceId(caller.namespace.id, externalId)
  const { userId, namespace } = caller
  if (traces.peek(id)?.trace.is !== 'present') return undefined
  return { id, namespaceId: namespace.id, writer: { userId, role: namespace.role } }
}

const resolved = async ({ reads }: TraceServices, caller: Caller, externalId: string): Promise<Located> => {
  const hit = await resolveTrace(reads, externalId, caller)
  if (!hit) throw notFound()
  // Not left to the decision, which would load the trace first: how long a refusal takes must not tell what is there.
  const writer = userRoleOf(caller, hit)!
  assertMayWrite(hit, writer)
  return { id: hit.id, namespaceId: hit.namespaceId, writer }
}

/**
 * For a write whose body is still to come: no 16 MiB are read for a caller who may not write.
 * @throws as the write itself would: 404, 403
 */
export const assertMayWriteTo = async (service: TraceServices, caller: Caller, externalId: string): Promise<void> => {
  const known = remembered(service, caller, externalId)
  const trace = known && service.traces.peek(known.id)?.trace
  // What is remembered may be of an earlier incarnation of the trace, so it cannot refuse.
  if (trace?.is !== 'present' || !mayWrite(trace, known!.writer)) await resolved(service, caller, externalId)
}

/** What a write came to, or undefined when the trace that it was for is gone. */
export const unlessGone = async <T>(written: Promise<T>): Promise<T | undefined> => {
  try {
    return await written
  } catch (error) {
    if (error instanceof Rejected && error.code === 'not_found' && !error.hidesExistence) return undefined
    throw error
  }
}

/**
 * Writes to the existing trace that an externalId names. One that is remembered needs no query; when that turns out to
 * be gone, the externalId may name another one.
 * @throws 404 when there is no such trace, and when its namespace is not the caller's
 */
export const writeLocated = async <T extends object>(
  service: TraceServices,
  caller: Caller,
  externalId: string,
  write: (located: Located) => Promise<T>,
): Promise<T> => {
  const known = remembered(service, caller, externalId)
  const written = known && (await unlessGone(write(known)))
  return written ?? write(await resolved(service, caller, externalId))
}
