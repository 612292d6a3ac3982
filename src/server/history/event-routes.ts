import type { FastifyInstance } from 'fastify'
import { type LogEvent, type OneEvent, history } from '../../contract/history.ts'
import { requireCaller } from '../http/caller.ts'
import { type JsonText, jsonText } from '../http/json-text.ts'
import { route } from '../http/route.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { metadataOf } from '../../eventstore/log/metadata.ts'
import type { HistoryServices } from './services.ts'
import { deletionOfTrace, eventOfNamespace, eventOfTrace } from './single-events.ts'

const eventText = (event: RecordedEvent): JsonText<OneEvent> => {
  const { at, actor, requestId, schema } = metadataOf(event)
  const text = jsonText<LogEvent>({
    id: `"${event.id}"`,
    stream: JSON.stringify(event.stream),
    revision: String(event.revision),
    type: JSON.stringify(event.type),
    at: String(at),
    actor: actor && JSON.stringify(actor),
    requestId: requestId === undefined ? undefined : JSON.stringify(requestId),
    data: event.data,
    schema: String(schema),
  })
  return jsonText({ event: text })
}

/** The routes of single events, exactly as the log has them. */
export const eventRoutes = (app: FastifyInstance, services: HistoryServices): void => {
  route(app, history, 'GET /v1/traces/{externalId}/events/{revision}', async ({ params, query, caller }) => {
    const { externalId, revision } = params
    const name = { externalId, namespace: query.namespace }
    return eventText(await eventOfTrace(services, name, revision, caller))
  })

  route(app, history, 'GET /v1/namespaces/{slug}/events/{revision}', async (request) => {
    const { slug, revision } = request.params
    return eventText(await eventOfNamespace(services, slug, revision, requireCaller(request)))
  })

  route(app, history, 'GET /v1/namespaces/{slug}/deletions/{traceId}', async (request) => {
    const { slug, traceId } = request.params
    return eventText(await deletionOfTrace(services, slug, traceId, requireCaller(request)))
  })
}
