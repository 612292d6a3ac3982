import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { afterStored } from '../engine/rejected.ts'
import type { Decision } from '../engine/stream.ts'
import { type Caller, contextOf, requireCaller, requireNamespace } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { done, nextCursor } from '../http/fields.ts'
import { DEFAULT_LIMIT, Key, Limit, limitOf } from '../http/parameters.ts'
import { fitting } from '../http/page-bytes.ts'
import { answers, arrayTexts, ok, okText, okTexts } from '../http/reply.ts'
import { traceId } from '../ids.ts'
import type { Reserve } from '../namespace/quota.ts'
import { TraceCreate, TraceUpsert, givenFields } from './body.ts'
import { type GivenFields, type Trace, type TraceState, patch, remove, replace, upsert } from './decide.ts'
import type { TraceEvent } from './events.ts'
import { type UserRole, assertMayRead, assertMayWrite } from './policy.ts'
import { afterOf, cursorAfter, listTraces, userRoleOf, resolveTrace, slugOf, traceDetail } from './queries.ts'
import { remembered, unlessGone, writeLocated } from './locate.ts'
import { rowWithModelName, traceWithModelName, withModelName } from './model-names.ts'
import { InNamespace, momentOf, pastQuery } from './moment.ts'
import type { ListedRow } from './rows.ts'
import { TraceDetail, TraceSummary, detailText, stateText, summaryText } from './views.ts'
import type { TraceServices } from './services.ts'

const Params = z.object({ externalId: Key })
const Page = z.object({ limit: Limit.optional(), cursor: z.string().optional() })
const Detail = z.object({ trace: TraceDetail })
const Past = z.object({ ...pastQuery, namespace: InNamespace })
const PastDetail = Detail.extend({
  revision: z
    .int()
    .meta({ description: 'The last revision of the append that is shown; of the past only', examples: [4] })
    .optional(),
})
const tags = ['traces']

/** Traces: create, read, change, delete, list. */
export const traceRoutes = (app: FastifyInstance, service: TraceServices): void => {
  const { reads, traces, models, quotas } = service

  const write = (request: FastifyRequest, id: string, decide: Decision<TraceState, TraceEvent>) =>
    service.write(traces, id, { decide, answer: ({ trace }) => trace }, contextOf(request))

  const slugFor = (caller: Caller, namespaceId: string) =>
    caller.namespace?.id === namespaceId ? caller.namespace.slug : slugOf(reads, namespaceId)

  const answerDetail = async (caller: Caller, id: string, trace: Trace) => {
    if (trace.is === 'absent') throw notFound() // deleted by a later command of the same moment
    return `{"trace":${stateText(id, await afterStored(slugFor(caller, trace.namespaceId)), traceWithModelName(models, trace))}}`
  }

  /** POST and PUT: updates the hit in the session's namespace, or inserts there. */
  const put = async (request: FastifyRequest, externalId: string, given: GivenFields) => {
    const caller = requireCaller(request)
    const namespace = requireNamespace(caller)
    const id = traceId(namespace.id, externalId)
    const fields = await withModelName(models, given)
    const updateRemembered = async () => {
      const known = remembered(service, caller, externalId)
      return known && unlessGone(write(request, id, replace(known.writer, fields)))
    }
    const updateOrInsert = async () => {
      const hit = await resolveTrace(reads, externalId, caller)
      if (hit && hit.id !== id) assertMayWrite(hit, userRoleOf(caller, hit)!)
      const writer: UserRole = { userId: caller.userId, role: namespace.role }
      const decide = upsert(writer, { externalId, namespaceId: namespace.id }, fields)
      return quotas.traces.enforce(namespace.id, (reserve) => write(request, id, counting(reserve, decide)))
    }
    return answerDetail(caller, id, (await updateRemembered()) ?? (await updateOrInsert()))
  }

  app.post<{ Body: TraceCreate }>(
    '/v1/traces',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Create a trace, or update the one with this externalId',
        description:
          'Writes to the active namespace of the session. A trace that is there with this `externalId` is updated as by ' +
          'PUT, so a repetition is harmless. Errors: `invalid_request` (400); `forbidden` (403) for members who are ' +
          'neither creator nor admin, and for a user without a namespace; `quota_exceeded` (403) where the operator ' +
          'limits traces; `not_found` (404).',
        tags,
        body: TraceCreate,
        response: answers(Detail, 404),
      },
    },
    async (request, reply) => okText(reply, await put(request, request.body.externalId, givenFields(request.body))),
  )

  app.put<{ Params: { externalId: string }; Body: TraceUpsert }>(
    '/v1/traces/:externalId',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Create or update a trace',
        description:
          'Writes to the active namespace of the session. On a trace that is there only the given fields change; but ' +
          '`visibility`, when it is not given, becomes `private` (PATCH keeps it). A repetition changes `updatedAt` ' +
          'only. Errors: `invalid_request` (400); `forbidden` (403) for members who are neither creator nor admin, and ' +
          'for a user without a namespace; `quota_exceeded` (403) where the operator limits traces; `not_found` (404).',
        tags,
        params: Params,
        body: TraceUpsert,
        response: answers(Detail, 404),
      },
    },
    async (request, reply) => okText(reply, await put(request, request.params.externalId, givenFields(request.body))),
  )

  app.patch<{ Params: { externalId: string }; Body: TraceUpsert }>(
    '/v1/traces/:externalId',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Change some fields of a trace',
        description:
          'As its creator or as an admin of its namespace. What is not given stays. Errors: `invalid_request` (400); ' +
          '`forbidden` (403) for members who are neither creator nor admin; `not_found` (404) for an unknown trace and ' +
          'for who is no member.',
        tags,
        params: Params,
        body: TraceUpsert,
        response: answers(Detail, 404),
      },
    },
    async (request, reply) => {
      const caller = requireCaller(request)
      const fields = await withModelName(models, givenFields(request.body))
      const { id, trace } = await writeLocated(service, caller, request.params.externalId, async ({ id, writer }) => ({
        id,
        trace: await write(request, id, patch(writer, fields)),
      }))
      return okText(reply, await answerDetail(caller, id, trace))
    },
  )

  app.delete<{ Params: { externalId: string } }>(
    '/v1/traces/:externalId',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Delete a trace and erase what it held',
        description:
          'As its creator or as an admin of its namespace. Its messages are erased for good. Creating the same ' +
          '`externalId` again starts an empty trace. Errors: `forbidden` (403) for members who are neither creator nor ' +
          'admin; `not_found` (404) for who is no member, and for a repetition.',
        tags,
        params: Params,
        response: answers(z.object({ deleted: done('That the trace is deleted') }), 404),
      },
    },
    async (request, reply) => {
      await writeLocated(service, requireCaller(request), request.params.externalId, ({ id, writer }) =>
        write(request, id, remove(writer)),
      )
      return ok(reply, { deleted: true })
    },
  )

  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof Past> }>(
    '/v1/traces/:externalId',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Read a trace',
        description:
          'A public trace for anybody, any other for members of its namespace. When several namespaces have the ' +
          '`externalId`: the one in the active namespace, else in one of yours, else a public one. With `revision` or `at` as ' +
          'it was then, for members only. Errors: `invalid_request` (400) for a revision or a time that is none; ' +
          '`unauthorized` (401) without a token for a trace that is not public, and for the past; `forbidden` (403) for ' +
          'the past of a public trace when you are no member; `not_found` (404), also before the creation and beyond the ' +
          'last revision.',
        tags,
        params: Params,
        querystring: Past,
        response: answers(PastDetail, 401, 403, 404),
      },
    },
    async (request, reply) => {
      const moment = momentOf(request.query)
      if (moment) return service.past.trace(request, reply, moment)
      const hit = await resolveTrace(reads, request.params.externalId, request.caller, request.query.namespace)
      if (!hit) throw notFound()
      assertMayRead(hit, userRoleOf(request.caller, hit))
      const row = await traceDetail(reads, hit.id)
      if (!row) throw notFound()
      assertMayRead(row, userRoleOf(request.caller, hit))
      return okText(reply, `{"trace":${detailText(rowWithModelName(models, row))}}`)
    },
  )

  app.get<{ Querystring: z.infer<typeof Page> }>(
    '/v1/traces',
    {
      config: { auth: 'required' },
      schema: {
        summary: "List the traces of the session's namespace, newest first",
        description:
          'Those of the active namespace, 50 a page if `limit` does not say otherwise, and at most 8 MiB. Empty for a ' +
          'user without a namespace. Errors: `invalid_request` (400) for a `limit` or `cursor` that is none.',
        tags,
        querystring: Page,
        response: answers(
          z.object({ traces: z.array(TraceSummary).meta({ description: 'The traces of this page' }), nextCursor }),
        ),
      },
    },
    async (request, reply) => {
      const { namespace } = requireCaller(request)
      const limit = limitOf(request.query.limit) ?? DEFAULT_LIMIT
      const after = afterOf(request.query.cursor)
      if (!namespace || limit === 0) return ok(reply, { traces: [] })
      const rows = await listTraces(reads, { namespaceId: namespace.id, publicOnly: false, limit: limit + 1, after })
      return okTexts(reply, pageTexts(service, rows, limit))
    },
  )
}

/** A decision that reserves room for the trace that it makes. */
const counting =
  (reserve: Reserve, decide: Decision<TraceState, TraceEvent>): Decision<TraceState, TraceEvent> =>
  (state, now, at) => {
    const isNew = state.trace.is === 'absent'
    const events = decide(state, now, at)
    reserve(isNew ? 1 : 0)
    return events
  }

/** A page of summaries, in parts, from one row more than it may hold; traces in quarantine are left out. */
export const pageTexts = (
  { reads, models }: Pick<TraceServices, 'reads' | 'models'>,
  rows: readonly ListedRow[],
  limit: number,
): string[] => {
  const texts = rows.map((row) =>
    reads.isNotQuarantined(`trace-${row.id}`) ? summaryText(rowWithModelName(models, row)) : '',
  )
  const sizes = rows.map(({ weight }, i) => Math.max(weight, Buffer.byteLength(texts[i]!)))
  const count = fitting(sizes, limit)
  const next = rows.length > count ? `,"nextCursor":"${cursorAfter(rows[count - 1]!)}"` : ''
  return ['{"traces":', ...arrayTexts(texts.slice(0, count).filter((text) => text !== '')), `${next}}`]
}
