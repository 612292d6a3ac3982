import type { FastifyRequest } from 'fastify'
import type { OneTrace } from '../contract/traces.ts'
import { afterStored } from '../engine/rejected.ts'
import type { Decision } from '../engine/stream.ts'
import { type Caller, contextOf, requireCaller, requireNamespace } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { type JsonText, jsonText } from '../http/json-text.ts'
import { traceId } from '../base/ids.ts'
import type { Reserve } from '../namespace/quota.ts'
import { type FieldsOfUpsert, type Trace, type TraceState, replace, unlessDeleted, upsert } from './decide.ts'
import type { TraceEvent } from './events.ts'
import { type TraceName, activeIn, remembered, unlessGone } from './locate.ts'
import { traceWithModelName, withModelName } from './model-names.ts'
import { type UserRole, assertMayWrite } from './policy.ts'
import { timesAndShapeOf, resolveTrace, slugOf, userRoleOf } from './queries.ts'
import type { TraceServices } from './services.ts'
import { stateText } from './views.ts'

type Decide = Decision<TraceState, TraceEvent>

/** A request to create or update a trace: POST or PUT. */
type UpsertRequest = {
  readonly name: TraceName
  readonly given: FieldsOfUpsert
  /** Refuse if the trace was deleted. */
  readonly unlessDeleted: boolean
}

/** Writes to a trace and returns it as it is afterwards. */
export const writeTrace = (
  { write, traces }: TraceServices,
  request: FastifyRequest,
  id: string,
  decide: Decide,
): Promise<Trace> => write(traces, id, { decide, answer: ({ trace }) => trace }, contextOf(request))

/** The JSON text of an answer with the written trace. @throws 404 if it has been deleted since */
export const writtenText = async (
  { reads, models }: TraceServices,
  { namespace }: Caller,
  id: string,
  trace: Trace,
): Promise<JsonText<OneTrace>> => {
  if (trace.is === 'absent') throw notFound()
  const [slug, read] = await afterStored(
    Promise.all([
      namespace?.id === trace.namespaceId ? namespace.slug : slugOf(reads, trace.namespaceId),
      trace.counts.messageCount === 0 ? {} : timesAndShapeOf(reads, id),
    ]),
  )
  return jsonText<OneTrace>({ trace: stateText(id, slug, traceWithModelName(models, trace), read) })
}

/** A decision that reserves quota for the trace that it creates. */
const counting =
  (reserve: Reserve, decide: Decide): Decide =>
  (state, now, at) => {
    const isNew = state.trace.is === 'absent'
    const events = decide(state, now, at)
    reserve(isNew ? 1 : 0)
    return events
  }

/** Creates or updates a trace in the named namespace, or in that of the session. Returns the JSON text of the answer. */
export const upsertTrace = async (
  service: TraceServices,
  request: FastifyRequest,
  asked: UpsertRequest,
): Promise<JsonText<OneTrace>> => {
  const { externalId } = asked.name
  const caller = await activeIn(service, requireCaller(request), asked.name.namespace)
  const namespace = requireNamespace(caller)
  const id = traceId(namespace.id, externalId)
  const fields = await withModelName(service.models, asked.given)
  const write = (decide: Decide) => writeTrace(service, request, id, decide)

  const updateRemembered = async () => {
    const known = remembered(service, caller, asked.name)
    return known && unlessGone(write(replace(known.writer, fields)))
  }
  const assertMayInsert = async () => {
    const hit = await resolveTrace(service.reads, externalId, caller, asked.name.namespace)
    if (!hit || hit.id === id) return
    // A deletion in this namespace is reported before anything about a trace of another namespace.
    if (asked.unlessDeleted) await write(unlessDeleted(() => []))
    assertMayWrite(hit, userRoleOf(caller, hit)!)
  }
  const updateOrInsert = async () => {
    await assertMayInsert()
    const writer: UserRole = { userId: caller.userId, role: namespace.role }
    const decideUpsert = upsert(writer, { externalId, namespaceId: namespace.id }, fields)
    const decide = asked.unlessDeleted ? unlessDeleted(decideUpsert) : decideUpsert
    return service.quotas.traces.enforce(namespace.id, (reserve) => write(counting(reserve, decide)))
  }
  return writtenText(service, caller, id, (await updateRemembered()) ?? (await updateOrInsert()))
}
