import type { FastifyInstance } from 'fastify'
import { type OneTrace, traces } from '../../contract/traces.ts'
import { withTimeout } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller, requireNamespace } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { jsonText } from '../http/json-text.ts'
import { route } from '../http/route.ts'
import { type TraceName, activeIn, locateToWrite } from '../trace/locate.ts'
import { shownRow } from '../trace/model-names.ts'
import { traceDetail } from '../trace/queries.ts'
import type { TraceServices } from '../trace/services.ts'
import { detailText } from '../trace/views.ts'
import type { FastifyRequest } from 'fastify'
import type { MoveTrace } from './move-trace.ts'

/** How long a request waits for a move. The move continues even if nothing waits for it. */
const WAIT_MS = 30_000
const LATE = 'this large trace is still being moved: send the same request again to wait for the result'

export type MovingServices = TraceServices & { readonly moveTrace: MoveTrace }

/**
 * Moves a trace for the caller to the namespace with this slug. Returns the id that the trace has there; a trace that is there already stays as it is.
 * @throws 404 for a namespace of which the caller is no member, and for a trace that the caller may not read; Rejected forbidden, exists, quota_exceeded
 */
export const moveForCaller = async (
  service: MovingServices,
  request: FastifyRequest,
  name: TraceName,
  slug: string,
): Promise<string> => {
  const caller = requireCaller(request)
  const { id: namespaceId, slug: present } = requireNamespace(await activeIn(service, caller, slug))
  const located = await locateToWrite(service, caller, name)
  const context = contextOf(request)
  if (located.namespaceId === namespaceId) {
    await service.write(service.traces, located.id, { decide: () => [] }, context) // the answer names its last event
    return located.id
  }
  const trace = { id: located.id, externalId: name.externalId }
  const transact = () => service.moveTrace(trace, { namespaceId, slug: present }, caller.userId, context)
  // Through `write`, so that it is refused, made visible and answered like a command, although it is not decided like one.
  const moved = service.write({ transact: transact as never }, located.id, { decide: () => [] }, context)
  return withTimeout(WAIT_MS, LATE, moved as unknown as Promise<string>, 'unknown')
}

/** The route that moves a trace to another namespace. */
export const moveRoute = (app: FastifyInstance, service: MovingServices): void =>
  route(app, traces, 'POST /v1/traces/{externalId}/move', async (request) => {
    const { params, query, body } = request
    const id = await moveForCaller(service, request, { ...params, ...query }, body.namespace)
    const trace = await traceDetail(service.reads, id)
    if (!trace) throw notFound() // it has been deleted since
    return jsonText<OneTrace>({ trace: detailText(shownRow(await service.models.known(), trace)) })
  })
