import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { messageId } from '../../../base/ids.ts'
import { moduleUrl } from '../../../base/threads.ts'
import { type BatchResult, type BatchResults, messages } from '../../../contract/messages.ts'
import { InNamespace, TraceKey } from '../../../contract/parameters.ts'
import { afterStored } from '../../../eventstore/engine/rejected.ts'
import { BATCH_LIMIT } from '../../http/body.ts'
import { contextOf, requireCaller } from '../../http/caller.ts'
import { type JsonText, jsonText } from '../../http/json-text.ts'
import { writtenRevision } from '../../http/log-position.ts'
import { jsonArray } from '../../http/reply.ts'
import { route } from '../../http/route.ts'
import type { Room } from '../../namespace/room.ts'
import type { TraceState } from '../state.ts'
import { ifRevision } from '../expected-revision.ts'
import { type LocatedTrace, type TraceName, rememberedOrLocated, writeLocated } from '../locate.ts'
import type { TraceServices } from '../services.ts'
import { readBatch, readMessage } from './body.ts'
import { needOf, type UpsertedMessage, upsertMessages } from './decide.ts'
import { mostGrowthOf } from './growth.ts'
import { messageListRoute } from './list-route.ts'
import { matchesRoute } from './matches-route.ts'
import type { MessageUpsert } from './message.ts'
import { oneMessage } from './queries.ts'
import { MOST_PARTS_BYTES, rowOf, upsertedText } from './views.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace that the request writes to, as it was found for the caller of this authentication (`authenticatedAt`), before the body was read. */
    writesTo: { readonly trace: LocatedTrace; readonly authenticatedAt: number } | undefined
  }
}

/** The trace that was found before the body was read. If that took so long that the caller was authenticated again, it is located again. */
const foundBefore = ({ writesTo, authenticatedAt }: FastifyRequest): LocatedTrace | undefined =>
  writesTo?.authenticatedAt === authenticatedAt ? writesTo.trace : undefined

const Params = z.object({ externalId: TraceKey })
const Query = z.object({ namespace: InNamespace.optional() })

type Upserted = { id: string; messages: readonly UpsertedMessage[]; messageCount: number }
/** The result of a request, with the revision of the last event of the trace. */
type Written = Upserted & { readonly revision: number }

/** The trace that a request writes to, and the revision that it must have. */
type Target = TraceName & { readonly ifRevision?: bigint | undefined }

const batchText = ({ id, messages, messageCount, revision }: Written): JsonText<BatchResults> => {
  const count = { created: 0, updated: 0, unchanged: 0 }
  const items = messages.map(({ externalId, result }) => {
    count[result] += 1
    return jsonText<BatchResult>({
      id: `"${messageId(id, externalId)}"`,
      externalId: JSON.stringify(externalId),
      result: `"${result}"`,
    })
  })
  return jsonText({
    messages: jsonArray(items),
    created: String(count.created),
    updated: String(count.updated),
    unchanged: String(count.unchanged),
    messageCount: String(messageCount),
    revision: String(revision),
  })
}

/** The command that upserts messages of a trace. */
const upsertCommand = (
  { id, writer }: Pick<LocatedTrace, 'id' | 'writer'>,
  upserts: readonly MessageUpsert[],
  room: Room,
) => ({
  decide: upsertMessages(writer, upserts, room),
  answer: ({ trace }: TraceState, _events: unknown, messages: readonly UpsertedMessage[]): Upserted => ({
    id,
    messages,
    messageCount: trace.is === 'present' ? trace.counts.messageCount : 0,
  }),
  need: needOf(upserts),
})

/** What reads the bodies, by name: message texts and arguments of tools keep the digits of their numbers. */
const bodies = { module: moduleUrl('./body', import.meta.url), isExact: true }

/** The routes of messages: upsert one, upsert up to 200, list. */
export const messageRoutes = (app: FastifyInstance, service: TraceServices): void => {
  const { traces, quotas } = service
  app.decorateRequest('writesTo', undefined)

  const write = async (
    request: FastifyRequest,
    { ifRevision: expected, ...name }: Target,
    upserts: readonly MessageUpsert[],
  ): Promise<Written> => {
    const writeTo = (located: LocatedTrace) =>
      quotas.bytes.enforce(located.namespaceId, mostGrowthOf(upserts), (room) => {
        const command = { ...upsertCommand(located, upserts, room), checkRevision: ifRevision(expected) }
        return service.write(traces, located.id, command, contextOf(request))
      })
    const upserted = await writeLocated(service, requireCaller(request), name, writeTo, foundBefore(request))
    return { ...upserted, revision: writtenRevision(request) }
  }

  /** Called before the body is read. An invalid path or query is refused later. */
  const refuseBeforeBody = async (request: FastifyRequest) => {
    const [params, query] = [Params.safeParse(request.params), Query.safeParse(request.query)]
    if (!params.success || !query.success) return
    const trace = await rememberedOrLocated(service, requireCaller(request), { ...params.data, ...query.data })
    request.writesTo = { trace, authenticatedAt: request.authenticatedAt }
  }

  /** The row of a message after an upsert. If the upsert has created it, no query is needed. */
  const rowAfter = (traceId: string, { externalId, given }: MessageUpsert, { result, head }: UpsertedMessage) => {
    const includeParts = head.parts.length <= MOST_PARTS_BYTES
    if (result === 'created') return rowOf(traceId, { ...head, externalId, document: given }, includeParts)
    return oneMessage(service.reads, { traceId, id: messageId(traceId, externalId), includeParts })
  }

  route(
    app,
    messages,
    'PUT /v1/traces/{externalId}/messages/{messageExternalId}',
    async (request, reply) => {
      const { externalId, messageExternalId } = request.params
      const upsert = { externalId: messageExternalId, ...request.body }
      const { id, messages, revision } = await write(request, { externalId, ...request.query }, [upsert])
      const [message] = messages
      await afterStored(reply.reserveMemory(message!.head.text?.length ?? 0))
      return upsertedText(await afterStored(rowAfter(id, upsert, message!)), revision)
    },
    { readBody: { ...bodies, read: readMessage, name: 'readMessage' }, onRequest: refuseBeforeBody },
  )

  route(
    app,
    messages,
    'POST /v1/traces/{externalId}/messages/batch',
    async (request) => batchText(await write(request, { ...request.params, ...request.query }, request.body)),
    {
      readBody: { ...bodies, read: readBatch, name: 'readBatch' },
      onRequest: refuseBeforeBody,
      bodyLimit: BATCH_LIMIT,
    },
  )

  messageListRoute(app, service)
  matchesRoute(app, service)
}
