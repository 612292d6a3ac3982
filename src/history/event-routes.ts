import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { requireCaller } from '../http/caller.ts'
import { id, text, time } from '../contract/fields.ts'
import { Key, Revision } from '../contract/parameters.ts'
import { answers, jsonObject, okText } from '../http/reply.ts'
import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { InNamespace } from '../trace/moment.ts'
import type { HistoryServices } from './services.ts'
import { deletionOfTrace, eventOfNamespace, eventOfTrace } from './single-events.ts'

const LogEvent = z
  .object({
    id: id('the event'),
    stream: text('The stream that the event is in', 'trace-0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b'),
    revision: z.int().meta({ description: 'The number of the event in its stream, from 0' }),
    type: text('What happened', 'TraceUpdated'),
    at: time('When it was recorded'),
    actor: z
      .object({ userId: id('the user'), sessionId: id('the session').optional() })
      .meta({ description: 'Who caused it; absent where the service itself did' })
      .optional(),
    requestId: text('The `x-request-id` of the request that caused it').optional(),
    data: z.record(z.string(), z.unknown()).meta({ description: 'Exactly as it was recorded' }),
    schema: z.int().meta({ description: 'The version of the shape of `data`', examples: [1] }),
  })
  .meta({ id: 'LogEvent', description: 'An event as it lies in the log' })
const One = z.object({ event: LogEvent })

const eventText = (event: RecordedEvent): string => {
  const { at, actor, requestId, schema } = metadataOf(event)
  const text = jsonObject({
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
  return `{"event":${text}}`
}

const errors =
  '`invalid_request` (400) for a revision that is none; `unauthorized` (401); `forbidden` (403) for others; '

/** Single events, whole, as the log holds them. */
export const eventRoutes = (app: FastifyInstance, services: HistoryServices): void => {
  const tags = ['history']

  app.get<{ Params: { externalId: string; revision: string }; Querystring: { namespace?: string } }>(
    '/v1/traces/:externalId/events/:revision',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Read one event of a trace',
        description: `For members of its namespace. Errors: ${errors}\`not_found\` (404), also beyond the end and for what was erased.`,
        tags,
        params: z.object({ externalId: Key, revision: Revision }),
        querystring: z.object({ namespace: InNamespace }),
        response: answers(One, 401, 403, 404),
      },
    },
    async ({ params, query, caller }, reply) => {
      const { externalId, revision } = params
      const name = { externalId, namespace: query.namespace }
      return okText(reply, eventText(await eventOfTrace(services, name, BigInt(revision), caller)))
    },
  )

  app.get<{ Params: { slug: string; revision: string } }>(
    '/v1/namespaces/:slug/events/:revision',
    {
      config: { auth: 'required' },
      schema: {
        summary: "Read one of the namespace's own events",
        description:
          'For its admins. Exactly as it was recorded, unlike the entries of the timeline: the event of an invite holds its code ' +
          'and its e-mail address, which admins see in the list of invites, too. Errors: ' +
          `${errors}\`not_found\` (404), also beyond the end.`,
        tags,
        params: z.object({ slug: Key, revision: Revision }),
        response: answers(One, 403, 404),
      },
    },
    async (request, reply) => {
      const { slug, revision } = request.params
      const event = await eventOfNamespace(services, slug, BigInt(revision), requireCaller(request))
      return okText(reply, eventText(event))
    },
  )

  app.get<{ Params: { slug: string; traceId: string } }>(
    '/v1/namespaces/:slug/deletions/:traceId',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Read the event that deleted a trace',
        description: `For the admins of its namespace. Errors: ${errors}\`not_found\` (404) for a trace that was not deleted.`,
        tags,
        params: z.object({ slug: Key, traceId: Key }),
        response: answers(One, 403, 404),
      },
    },
    async (request, reply) => {
      const { slug, traceId } = request.params
      return okText(reply, eventText(await deletionOfTrace(services, slug, traceId, requireCaller(request))))
    },
  )
}
