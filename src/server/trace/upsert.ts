import type { FastifyRequest } from 'fastify'
import type { WrittenTrace } from '../../contract/traces.ts'
import { Rejected, afterStored } from '../../eventstore/engine/rejected.ts'
import type { Decision } from '../../eventstore/engine/stream.ts'
import { type Caller, contextOf, requireCaller, requireNamespace } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { type JsonText, jsonText } from '../http/json-text.ts'
import { writtenRevision } from '../http/log-position.ts'
import { traceId } from '../../base/ids.ts'
import { idOfSlug, namespaceById } from '../namespace/queries.ts'
import { type FieldsOfUpsert, remove, replace, unlessDeleted, upsert } from './decide.ts'
import type { Trace, TraceState } from './state.ts'
import type { TraceEvent } from './events.ts'
import { ifRevision } from './expected-revision.ts'
import { type TraceName, activeIn, remembered, unlessGone, writeLocated } from './locate.ts'
import { traceWithModelName, withModelName } from './model-names.ts'
import { type UserRole, assertMayWrite } from './policy.ts'
import { ofMessages, resolveTrace, slugOf, userRoleOf } from './queries.ts'
import type { TraceServices } from './services.ts'
import { stateText } from './views.ts'

type Decide = Decision<TraceState, TraceEvent>

/** A request to create or update a trace: POST or PUT. */
type UpsertRequest = {
  readonly name: TraceName
  readonly given: FieldsOfUpsert
  /** Refuse if the trace was deleted. */
  readonly unlessDeleted: boolean
  /** The revision that the trace must have. */
  readonly expected: bigint | undefined
}

/** A trace after a write to it, and the revision of its last event. */
export type Written = { readonly id: string; readonly trace: Trace; readonly revision: number }

/** Writes to a trace, which must have the expected revision if one is given. */
export const writeTrace = async (
  { write, traces }: TraceServices,
  request: FastifyRequest,
  id: string,
  decide: Decide,
  expected?: bigint,
): Promise<Written> => {
  const command = { decide, checkRevision: ifRevision(expected), answer: ({ trace }: TraceState) => trace }
  const trace = await write(traces, id, command, contextOf(request))
  return { id, trace, revision: writtenRevision(request) }
}

/** Deletes a trace, and what a move of it has left elsewhere that died. */
export const removeTrace = async (
  service: TraceServices,
  request: FastifyRequest,
  name: TraceName,
): Promise<Pick<Written, 'revision'>> =>
  writeLocated(service, requireCaller(request), name, async ({ id, namespaceId, writer }) => {
    const written = await writeTrace(service, request, id, remove(writer))
    await afterStored(service.removeCopies({ id, namespaceId, externalId: name.externalId }, contextOf(request)))
    return written
  })

/** The JSON text of an answer with the written trace. @throws 404 if it has been deleted since */
export const writtenText = async (
  { reads, models }: TraceServices,
  { namespace }: Caller,
  { id, trace, revision }: Written,
): Promise<JsonText<WrittenTrace>> => {
  if (trace.is === 'absent') throw notFound()
  const known = await afterStored(models.known())
  const [slug, read] = await afterStored(
    Promise.all([
      namespace?.id === trace.namespaceId ? namespace.slug : slugOf(reads, trace.namespaceId),
      trace.counts.messageCount === 0 ? {} : ofMessages(reads, id, known),
    ]),
  )
  const text = stateText(id, slug, traceWithModelName(known, trace), read)
  return jsonText<WrittenTrace>({ trace: text, revision: String(revision) })
}

/** Says where a deleted trace was moved only to members of that namespace. */
const toMembers = async <T>({ reads }: TraceServices, caller: Caller, written: Promise<T>): Promise<T> => {
  try {
    return await written
  } catch (error) {
    if (!(error instanceof Rejected) || error.code !== 'deleted') throw error
    const { movedTo, ...details } = error.details as { readonly movedTo?: string }
    if (movedTo === undefined) throw error
    const { role } = await namespaceById(reads, idOfSlug(movedTo), caller.userId)
    throw role === undefined ? new Rejected('deleted', error.message, { details }) : error
  }
}

/** Creates or updates a trace in the named namespace, or in that of the session. Returns the JSON text of the answer. */
export const upsertTrace = async (
  service: TraceServices,
  request: FastifyRequest,
  asked: UpsertRequest,
): Promise<JsonText<WrittenTrace>> => {
  const { externalId } = asked.name
  const caller = await activeIn(service, requireCaller(request), asked.name.namespace)
  const namespace = requireNamespace(caller)
  const id = traceId(namespace.id, externalId)
  const fields = await withModelName(service.models, asked.given)
  const write = (decide: Decide) => writeTrace(service, request, id, decide, asked.expected)

  const updateRemembered = async () => {
    const known = remembered(service, caller, asked.name)
    return known && unlessGone(write(replace(known.writer, fields)))
  }
  const assertMayInsert = async () => {
    const hit = await resolveTrace(service.reads, externalId, caller, asked.name.namespace)
    if (!hit || hit.id === id) return
    // A deletion in this namespace is reported before anything about a trace of another namespace.
    if (asked.unlessDeleted)
      await service.write(service.traces, id, { decide: unlessDeleted(() => []) }, contextOf(request))
    assertMayWrite(hit, userRoleOf(caller, hit)!)
  }
  const updateOrInsert = async () => {
    await assertMayInsert()
    const writer: UserRole = { userId: caller.userId, role: namespace.role }
    return service.quotas.traces.enforce(namespace.id, 1, (room) => {
      const decide = upsert(writer, { externalId, namespaceId: namespace.id }, fields, room)
      return write(asked.unlessDeleted ? unlessDeleted(decide) : decide)
    })
  }
  return writtenText(
    service,
    caller,
    (await updateRemembered()) ?? (await toMembers(service, caller, updateOrInsert())),
  )
}
