import { Rejected, hiddenNotFound } from '../../eventstore/engine/rejected.ts'
import type { Caller } from '../http/caller.ts'
import { Moved, notFound } from '../http/http-error.ts'
import type { Reader } from '../http/long-list.ts'
import { traceId } from '../../base/ids.ts'
import { idOfSlug, namespaceById } from '../namespace/queries.ts'
import { missingTrace } from './moved.ts'
import { type UserRole, assertMayRead, assertMayWrite, mayWrite } from './policy.ts'
import { type ResolvedTrace, type StoredDetail, resolveTrace, traceDetail, userRoleOf } from './queries.ts'
import type { TraceServices } from './services.ts'

/** The trace that a write goes to, and its writer. The decision checks whether the writer may write. */
export type LocatedTrace = { readonly id: string; readonly namespaceId: string; readonly writer: UserRole }

/** How a request names a trace: in one namespace, by its slug, or without a namespace, which depends on the caller (`queries.ts`). */
export type TraceName = { readonly externalId: string; readonly namespace?: string | undefined }

/**
 * The caller, active in the namespace that a request names, or in that of the session.
 * @throws 404 for an unknown namespace; Rejected not_found if the caller is not a member of it
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

/**
 * A trace of the session's namespace that the caller may write to, by the state that this node has in memory. It may have been deleted by another
 * node. A refusal needs a query: the state may be of an earlier incarnation of the trace.
 */
export const remembered = (
  { traces }: TraceServices,
  caller: Caller,
  { externalId, namespace: slug }: TraceName,
): LocatedTrace | undefined => {
  if (!caller.namespace || (slug !== undefined && idOfSlug(slug) !== caller.namespace.id)) return undefined
  const id = traceId(caller.namespace.id, externalId)
  const { userId, namespace } = caller
  const writer: UserRole = { userId, role: namespace.role }
  const trace = traces.peek(id)?.trace
  return trace?.is === 'present' && mayWrite(trace, writer) ? { id, namespaceId: namespace.id, writer } : undefined
}

/** A trace that the caller may read, as it is now. Answers that take longer check the right of `reader` again. */
type ReadableTrace = {
  readonly trace: StoredDetail
  readonly reader: Reader & { readonly traceId: string }
  /** The role of the caller in the namespace of the trace. */
  readonly role: ResolvedTrace['role']
}

/** The reader of an answer that takes longer, for later checks of the right to read. */
export const readerOf = (
  { id: traceId, namespaceId, role }: Pick<ResolvedTrace, 'id' | 'namespaceId' | 'role'>,
  caller: Caller | undefined,
): ReadableTrace['reader'] => ({ caller, namespaceId, traceId, isMember: role !== undefined })

/**
 * The trace that a read names.
 * @throws 404 if it does not exist, or the caller may not read it; Moved if it was moved; 401 if there is no caller and the trace is not public
 */
export const locateToRead = async (
  reads: TraceServices['reads'],
  { externalId, namespace }: TraceName,
  caller: Caller | undefined,
): Promise<ReadableTrace> => {
  const hit = await resolveTrace(reads, externalId, caller, namespace)
  if (!hit) throw await missingTrace(reads, { externalId, namespace }, caller)
  assertMayRead(hit, userRoleOf(caller, hit))
  const trace = await traceDetail(reads, hit.id)
  if (!trace) throw notFound()
  assertMayRead(trace, userRoleOf(caller, hit)) // it may have become private meanwhile
  return { trace, reader: readerOf(hit, caller), role: hit.role }
}

/** Like `locateToRead`, and where the trace is now if it was moved. */
export const locateWhereverMoved: typeof locateToRead = async (reads, name, caller) => {
  try {
    return await locateToRead(reads, name, caller)
  } catch (error) {
    if (!(error instanceof Moved)) throw error
    return locateToRead(reads, { ...name, namespace: error.to }, caller)
  }
}

/** The trace that a write names. @throws 404 if it does not exist, or the caller is not a member; 403 if the caller is a member who may not write */
export const locateToWrite = async (
  { reads }: TraceServices,
  caller: Caller,
  name: TraceName,
): Promise<LocatedTrace> => {
  const hit = await resolveTrace(reads, name.externalId, caller, name.namespace)
  if (!hit) throw await missingTrace(reads, name, caller)
  // The decision would refuse as well, but load the trace first: the time of a refusal must not reveal whether the trace exists.
  const writer = userRoleOf(caller, hit)!
  assertMayWrite(hit, writer)
  return { id: hit.id, namespaceId: hit.namespaceId, writer }
}

/** The trace that a write names, from memory if it is there. @throws 404, 403, like `locateToWrite` */
export const rememberedOrLocated = async (
  service: TraceServices,
  caller: Caller,
  name: TraceName,
): Promise<LocatedTrace> => remembered(service, caller, name) ?? locateToWrite(service, caller, name)

/** The result of a write, or undefined if its trace does not exist any more. */
export const unlessGone = async <T>(written: Promise<T>): Promise<T | undefined> => {
  try {
    return await written
  } catch (error) {
    if (error instanceof Rejected && error.code === 'not_found' && !error.hidesExistence) return undefined
    throw error
  }
}

/**
 * Writes to an existing trace: to the one that was `found` earlier in the request, or is in memory, else to one that a query finds. If it turns out
 * to be deleted, the `externalId` may name another one.
 * @throws 404 if there is no such trace, or the caller is not a member of its namespace
 */
export const writeLocated = async <T extends object>(
  service: TraceServices,
  caller: Caller,
  name: TraceName,
  write: (located: LocatedTrace) => Promise<T>,
  found: LocatedTrace | undefined = remembered(service, caller, name),
): Promise<T> => {
  const written = found && (await unlessGone(write(found)))
  return written ?? write(await locateToWrite(service, caller, name))
}
