import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { afterStored } from '../../engine/rejected.ts'
import { BATCH_LIMIT, checkedByReadBody } from '../../http/body.ts'
import { contextOf, requireCaller } from '../../http/caller.ts'
import { count, id as idOf } from '../../contract/fields.ts'
import { Key } from '../../contract/parameters.ts'
import { answers, jsonArray, okText } from '../../http/reply.ts'
import { messageId } from '../../ids.ts'
import { moduleUrl } from '../../module-url.ts'
import type { Reserve } from '../../namespace/quota.ts'
import { BatchBody, MessageBody, readBatch, readMessage } from './body.ts'
import { type UpsertedMessage, needOf, upsertMessages } from './decide.ts'
import type { TraceState } from '../decide.ts'
import { growthOf } from './growth.ts'
import { type Located, type TraceName, assertMayWriteTo, writeLocated } from '../locate.ts'
import { WriteQuery } from '../moment.ts'
import { messageListRoute } from './list-route.ts'
import { matchesRoute } from './matches-route.ts'
import type { MessageUpsert } from './message.ts'
import { messageMeanings } from '../meanings.ts'
import { oneMessage } from './queries.ts'
import { MOST_PARTS_BYTES, Message, rowOf, upsertedText } from './views.ts'
import type { TraceServices } from '../services.ts'

const OneParams = z.object({ externalId: Key, messageExternalId: Key })
const Params = z.object({ externalId: Key })
const Batch = z.object({
  messages: z
    .array(
      z.object({
        id: idOf('the message'),
        externalId: z.string().meta(messageMeanings.externalId),
        result: z.enum(['created', 'updated', 'unchanged']).meta({ description: 'What became of the message' }),
      }),
    )
    .meta({ description: 'One entry for each message of the request, in its order' }),
  created: count('How many messages were new'),
  updated: count('How many messages were changed'),
  unchanged: count('How many messages were there as they were sent'),
  messageCount: count('How many messages the trace has now'),
})
const Upserted = z.object({
  message: Message,
  partsOmitted: z
    .literal(true)
    .meta({ description: 'The parts hold more than 256 KiB and are left out: the list of messages has them' })
    .optional(),
})
const tags = ['messages']

type Written = { id: string; messages: readonly UpsertedMessage[]; messageCount: number }

const batchText = ({ id, messages, messageCount }: Written): string => {
  const count = { created: 0, updated: 0, unchanged: 0 }
  const items = messages.map(({ externalId, result }) => {
    count[result] += 1
    return `{"id":"${messageId(id, externalId)}","externalId":${JSON.stringify(externalId)},"result":"${result}"}`
  })
  const { created, updated, unchanged } = count
  return `{"messages":${jsonArray(items)},"created":${created},"updated":${updated},"unchanged":${unchanged},"messageCount":${messageCount}}`
}

type DecideUpserts = ReturnType<typeof upsertMessages>

/** A decision that reserves room for what its upserts add. */
const reserving =
  (reserve: Reserve, decide: DecideUpserts): DecideUpserts =>
  (state, now, at) => {
    const decided = decide(state, now, at)
    reserve(growthOf(decided.result))
    return decided
  }

const module = moduleUrl('./body-tasks', import.meta.url)

/** The messages of a trace: upsert one, upsert up to 200, list. */
export const messageRoutes = (app: FastifyInstance, service: TraceServices): void => {
  const { traces, quotas } = service

  const write = async (request: FastifyRequest, name: TraceName, upserts: readonly MessageUpsert[]): Promise<Written> =>
    writeLocated(service, requireCaller(request), name, (located) =>
      quotas.bytes.enforce(located.namespaceId, (reserve) => writeTo(request, located, upserts, reserve)),
    )

  /** Before the body is read; a path or query that is not valid is refused later. */
  const refuseBeforeBody = async (request: FastifyRequest) => {
    const [params, query] = [Params.safeParse(request.params), WriteQuery.safeParse(request.query)]
    if (!params.success || !query.success) return
    await assertMayWriteTo(service, requireCaller(request), { ...params.data, ...query.data })
  }

  const writeTo = (
    request: FastifyRequest,
    { id, writer }: Located,
    upserts: readonly MessageUpsert[],
    reserve: Reserve,
  ) => {
    const decide = reserving(reserve, upsertMessages(writer, upserts))
    const answer = ({ trace }: TraceState, _events: unknown, messages: readonly UpsertedMessage[]): Written => ({
      id,
      messages,
      messageCount: trace.is === 'present' ? trace.counts.messageCount : 0,
    })
    return service.write(traces, id, { decide, answer, need: needOf(upserts) }, contextOf(request))
  }

  /** The row of a message after an upsert: where that has created it, all of it is there. */
  const rowAfter = (traceId: string, { externalId, given }: MessageUpsert, { result, head }: UpsertedMessage) => {
    const includeParts = head.parts.length <= MOST_PARTS_BYTES
    if (result === 'created') return rowOf(traceId, { ...head, externalId, document: given }, includeParts)
    return oneMessage(service.reads, { traceId, id: messageId(traceId, externalId), includeParts })
  }

  app.put<{
    Params: { externalId: string; messageExternalId: string }
    Querystring: WriteQuery
    Body: Omit<MessageUpsert, 'externalId'>
  }>(
    '/v1/traces/:externalId/messages/:messageExternalId',
    {
      config: { auth: 'required', readBody: { here: readMessage, module, name: 'message' } },
      validatorCompiler: checkedByReadBody,
      onRequest: refuseBeforeBody,
      schema: {
        summary: 'Create or update a message',
        description:
          'As the creator of the trace or as an admin of its namespace. On a message that is there only the given ' +
          'fields change; given `parts` replace all that it had. A repetition changes nothing. The answer has the message with its parts, unless ' +
          'these hold more than 256 KiB. Errors: ' +
          '`invalid_request` (400), also beyond 2,000 parts; `forbidden` (403) for members who are neither creator nor ' +
          'admin; `quota_exceeded` (403) where the operator limits bytes; `not_found` (404) for an unknown trace and ' +
          'for who is no member; `payload_too_large` (413) beyond 1 MiB.',
        tags,
        params: OneParams,
        querystring: WriteQuery,
        body: MessageBody,
        response: answers(Upserted, 404),
      },
    },
    async (request, reply) => {
      const { externalId, messageExternalId } = request.params
      const upsert = { externalId: messageExternalId, ...request.body }
      const { id, messages } = await write(request, { externalId, ...request.query }, [upsert])
      const [message] = messages
      await afterStored(reply.reserveMemory(message!.head.text?.length ?? 0))
      return okText(reply, upsertedText(await afterStored(rowAfter(id, upsert, message!))))
    },
  )

  app.post<{ Params: { externalId: string }; Querystring: WriteQuery; Body: readonly MessageUpsert[] }>(
    '/v1/traces/:externalId/messages/batch',
    {
      bodyLimit: BATCH_LIMIT,
      validatorCompiler: checkedByReadBody,
      onRequest: refuseBeforeBody,
      config: { auth: 'required', readBody: { here: readBatch, module, name: 'batch' } },
      schema: {
        summary: 'Create or update up to 200 messages, all or none',
        description:
          'Each as by PUT, in the order of the request; all are stored or none. A repetition changes nothing. Errors: ' +
          '`invalid_request` (400), also beyond 2,000 parts in a message, 20,000 in the batch, or 200,000 JSON values; ' +
          '`forbidden` (403) for members who are neither creator nor admin; `quota_exceeded` (403) where the operator ' +
          'limits bytes; `not_found` (404) for an unknown trace and for who is no member; `payload_too_large` (413) ' +
          'beyond 16 MiB; `rate_limited` (429) and `unavailable` (503) while too many bytes are on their way.',
        tags,
        params: Params,
        querystring: WriteQuery,
        body: BatchBody,
        response: answers(Batch, 404),
      },
    },
    async (request, reply) => {
      return okText(reply, batchText(await write(request, { ...request.params, ...request.query }, request.body)))
    },
  )

  messageListRoute(app, service)
  matchesRoute(app, service)
}
