import { Rejected, hiddenNotFound } from '../engine/rejected.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import type { Reader } from '../http/long-list.ts'
import { traceId } from '../base/ids.ts'
import { idOfSlug, namespaceById } from '../namespace/queries.ts'
import { type UserRole, assertMayRead, assertMayWrite, mayWrite } from './policy.ts'
import { type StoredDetail, resolveTrace, traceDetail, userRoleOf } from './queries.ts'
import type { TraceServices } from './services.ts'

/** Where a write to an existing trace goes, and as whom: the decision itself checks the write policy. */
export type Located = { readonly id: string; readonly namespaceId: string; readonly writer: UserRole }

/** Which trace a request means: that of one namespace, by its slug, or whichever comes first for the caller. */
export type TraceName = { readonly externalId: string; readonly namespace?: string | undefined }

/**
 * The caller as active in a namespace that a request names, or in that of the session.
 * @throws 404 for a namespace that is not there; Rejected not_found for who is no member of it
 */
export const activeIn = async (
  { reads }: Pick<TraceServices, 'reads'>,
  caller: Caller,
  slug: string | undefined,
): Promise<Caller> => {
  if (slug === undefined || idOfSlug(slug) === caller.namespace?.id) return caller
  const { role, ...namespace } = await namespaceById(reads, idOfSlug(slug), caller.userId)
  if (role === undefined) throw hiddenNotFound()
  return { ...caller, namespace: { id: namespace.id, slug: namespace.slug, role } }
}

/** A trace of the session's namespace that this node remembers: it may have been deleted on another one. */
export const remembered = (
  { traces }: TraceServices,
  caller: Caller,
  { externalId, namespace: slug }: TraceName,
): Located | undefined => {
  if (!caller.namespace || (slug !== undefined && idOfSlug(slug) !== caller.namespace.id)) return undefined
  const id = traceId(caller.namespace.id, externalId)
  const { userId, namespace } = caller
  if (traces.peek(id)?.trace.is !== 'present') return undefined
  return { id, namespaceId: namespace.id, writer: { userId, role: namespace.role } }
}

/** A trace that the caller may read, as it is now, and whose reading it is: for what goes on for longer. */
export type Readable = { readonly trace: StoredDetail; readonly reader: Reader & { readonly traceId: string } }

/**
 * The trace that a read means.
 * @throws 404 when there is none, or none that the caller may know of; 401 without a caller for one that is not public
 */
export const locateToRead = async (
  reads: TraceServices['reads'],
  { externalId, namespace }: TraceName,
  caller: Caller | undefined,
): Promise<Readable> => {
  const hit = await resolveTrace(reads, externalId, caller, namespace)
  if (!hit) throw notFound()
  assertMayRead(hit, userRoleOf(caller, hit))
  const trace = await traceDetail(reads, hit.id)
  if (!trace) throw notFound()
  assertMayRead(trace, userRoleOf(caller, hit)) // it may have become private meanwhile
  const { id: traceId, namespaceId, role } = hit
  return { trace, reader: { caller, namespaceId, traceId, isMember: role !== undefined } }
}

const resolved = async ({ reads }: TraceServices, caller: Caller, name: TraceName): Promise<Located> => {
  const hit = await resolveTrace(reads, name.externalId, caller, name.namespace)
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
export const assertMayWriteTo = async (service: TraceServices, caller: Caller, name: TraceName): Promise<void> => {
  const known = remembered(service, caller, name)
  const trace = known && service.traces.peek(known.id)?.trace
  // What is remembered may be of an earlier incarnation of the trace, so it cannot refuse.
  if (trace?.is !== 'present' || !mayWrite(trace, known!.writer)) await resolved(service, caller, name)
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
 * Writes to the existing trace that is named. One that is remembered needs no query; when that turns out to
 * be gone, the externalId may name another one.
 * @throws 404 when there is no such trace, and when its namespace is not the caller's
 */
export const writeLocated = async <T extends object>(
  service: TraceServices,
  caller: Caller,
  name: TraceName,
  write: (located: Located) => Promise<T>,
): Promise<T> => {
  const known = remembered(service, caller, name)
  const written = known && (await unlessGone(write(known)))
  return written ?? write(await resolved(service, caller, name))
}
