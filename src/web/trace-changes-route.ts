import type { FastifyInstance } from 'fastify'
import { inSteps } from '../base/json/steps.ts'
import type { LongLists } from '../http/long-lists.ts'
import { type ChangesPage, restOfChanges, startOfChanges } from '../pages/changes.ts'
import { documentHeaders } from '../pages/headers.ts'
import { viewerOf } from '../pages/viewer.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { messageText } from '../trace/messages/views.ts'
import { MOST_KEPT, newChanges } from '../transcript/changes.ts'
import { readMessage } from '../transcript/message.ts'
import { messagesBetween } from './trace-messages.ts'
import { fragmentHeaders } from './trace-route.ts'
import { type ShownServices, showTrace } from './trace-shown.ts'
import { TraceParams } from './trace-params.ts'

type Services = ShownServices & { readonly longLists: LongLists }

/** `GET /@{slug}/{externalId}/-/changes`: what the calls of a session changed, file by file. */
export const traceChangesRoute = (app: FastifyInstance, services: Services): void => {
  const { reads, longLists } = services
  app.get<{ Params: TraceParams }>(
    '/@:slug/:externalId/-/changes',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams } },
    async (request, reply) => {
      const { trace, slug, head, fields, reader, check } = await showTrace(services, request.params, request.caller)
      const project = fields.get('projectName')
      const page: ChangesPage = {
        ...{ slug, externalId: trace.external_id, head, viewer: viewerOf(request) },
        project: typeof project === 'string' ? project : undefined,
      }
      const changes = newChanges()
      const size = Number(trace.bytes)
      return longLists.send<MessageListRow>(reply, {
        ...{ reader, check },
        // Besides a chunk, what is kept of the edits until all are known.
        chunkSize: Math.min(size, CHUNK_SIZE) + Math.min(size, MOST_KEPT),
        async *chunks() {
          yield* (await messagesBetween(reads, trace, undefined)).chunks()
        },
        before: startOfChanges(page).source,
        *toText(row) {
          const message = yield* inSteps(readMessage(messageText(row)), '')
          yield* inSteps(changes.add(message), '') as Generator<string, void>
        },
        *after() {
          for (const { source } of restOfChanges(changes.end(), page)) yield source
        },
        headers: () => ({ ...documentHeaders, ...fragmentHeaders }),
      })
    },
  )
}
