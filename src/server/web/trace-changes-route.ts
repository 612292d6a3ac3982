import type { FastifyInstance } from 'fastify'
import type { LongLists } from '../http/long-lists.ts'
import { type ChangesPage, startOfChanges } from '../pages/changes.ts'
import { endOfPage } from '../pages/document.ts'
import { documentHeaders } from '../pages/headers.ts'
import { viewerOf } from '../pages/viewer.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { MOST_KEPT } from '../../transcript/changes.ts'
import type { RowMaking } from './row-making.ts'
import { messagesInput } from './row-steps.ts'
import { rowsOfAnswer } from './rows-of-answer.ts'
import { messagesBetween } from './trace-messages.ts'
import { fragmentHeaders } from './trace-sending.ts'
import { type ShownServices, showTrace } from './trace-shown.ts'
import { TraceParams } from './trace-params.ts'

type Services = ShownServices & { readonly longLists: LongLists; readonly rowMaking: RowMaking }

/** `GET /@{slug}/{externalId}/-/changes`: what the calls of a session changed, file by file. */
export const traceChangesRoute = (app: FastifyInstance, services: Services): void => {
  const { reads, longLists, rowMaking } = services
  app.get<{ Params: TraceParams }>(
    '/@:slug/:externalId/-/changes',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams } },
    async (request, reply) => {
      const { trace, slug, head, fields, reader, check, modelName } = await showTrace(
        services,
        request.params,
        request.caller,
      )
      const project = fields.get('projectName')
      const page: ChangesPage = {
        slug,
        externalId: trace.external_id,
        head,
        viewer: viewerOf(request),
        project: typeof project === 'string' ? project : undefined,
      }
      const made = rowsOfAnswer(rowMaking, reply)({ is: 'changes', page })
      const size = Number(trace.bytes)
      return longLists.send<readonly MessageListRow[]>(reply, {
        reader,
        check,
        // Besides a chunk, what is kept of the edits until all are known.
        chunkSize: Math.min(size, CHUNK_SIZE) + Math.min(size, MOST_KEPT),
        async *chunks() {
          for await (const chunk of (await messagesBetween(reads, trace, undefined)).chunks())
            yield { ...chunk, rows: [chunk.rows] }
        },
        before: startOfChanges(page).source,
        toText: (rows) => made.make(messagesInput(rows, modelName)),
        async *after() {
          yield* made.make({ is: 'endOfMessages' })
          yield endOfPage().source
        },
        headers: () => ({ ...documentHeaders, ...fragmentHeaders }),
      })
    },
  )
}
