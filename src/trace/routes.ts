import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { done, nextCursor } from '../contract/fields.ts'
import { EXAMPLE_SLUG } from '../http/openapi-examples.ts'
import { DEFAULT_LIMIT, Key, LimitText, limitOf } from '../contract/parameters.ts'
import { fitting } from '../http/page-bytes.ts'
import { answers, arrayTexts, ok, okText, okTexts } from '../http/reply.ts'
import { TraceCreate, TraceUpsert, givenFields } from './body.ts'
import { patch, remove } from './decide.ts'
import { assertMayRead } from './policy.ts'
import { userRoleOf, resolveTrace, traceDetail } from './queries.ts'
import { type ListPlace, Sort, cursorBehind, listTraces, placeOf } from './lists.ts'
import { writeLocated } from './locate.ts'
import { rowWithModelName, withModelName } from './model-names.ts'
import { InNamespace, WriteQuery, momentOf, pastQuery } from './moment.ts'
import type { ListedRow } from './rows.ts'
import { TraceDetail, TraceSummary, detailText, summaryText } from './views.ts'
import type { TraceServices } from './services.ts'
import { upsertTrace, writeTrace, writtenText } from './upsert.ts'

const Params = z.object({ externalId: Key })
const Page = z.object({ limit: LimitText.optional(), cursor: z.string().optional(), sort: Sort.optional() })
const Detail = z.object({ trace: TraceDetail })
const Past = z.object({ ...pastQuery, namespace: InNamespace })
const PastDetail = Detail.extend({
  revision: z
    .int()
    .meta({ description: 'The last revision of the append that is shown; of the past only', examples: [4] })
    .optional(),
})
const Upsert = z.object({
  namespace: Key.meta({
    description: 'The slug of the namespace that is written to, instead of the session’s; for its members',
    examples: [EXAMPLE_SLUG],
  }).optional(),
  unlessDeleted: z
    .enum(['true', 'false'])
    .meta({
      description:
        'With `true` a trace that the namespace has deleted is not made again: `deleted` (410), with `deletedAt` in ' +
        '`details`, the time of the last deletion. Default: `false`',
      examples: ['true'],
    })
    .optional(),
})
type Upsert = z.infer<typeof Upsert>
const tags = ['traces']

/** Traces: create, read, change, delete, list. */
export const traceRoutes = (app: FastifyInstance, service: TraceServices): void => {
  const { reads, models } = service

  const put = (request: FastifyRequest<{ Querystring: Upsert; Body: TraceUpsert }>, externalId: string) =>
    upsertTrace(service, request, {
      name: { externalId, namespace: request.query.namespace },
      given: givenFields(request.body),
      unlessDeleted: request.query.unlessDeleted === 'true',
    })

  app.post<{ Querystring: Upsert; Body: TraceCreate }>(
    '/v1/traces',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Create a trace, or update the one with this externalId',
        description:
          'Writes to the active namespace of the session, or to `namespace`. A trace that is there with this `externalId` is updated as by ' +
          'PUT, so a repetition is harmless. Errors: `invalid_request` (400); `forbidden` (403) for members who are ' +
          'neither creator nor admin, and for a user without a namespace; `quota_exceeded` (403) where the operator ' +
          'limits traces; `not_found` (404); `deleted` (410) with `unlessDeleted`.',
        tags,
        querystring: Upsert,
        body: TraceCreate,
        response: answers(Detail, 404, 410),
      },
    },
    async (request, reply) => okText(reply, await put(request, request.body.externalId)),
  )

  app.put<{ Params: { externalId: string }; Querystring: Upsert; Body: TraceUpsert }>(
    '/v1/traces/:externalId',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Create or update a trace',
        description:
          'Writes to the active namespace of the session, or to `namespace`. On a trace that is there only the given fields change; but ' +
          '`visibility`, when it is not given, becomes `private` (PATCH keeps it). A repetition changes `updatedAt` ' +
          'only. Errors: `invalid_request` (400); `forbidden` (403) for members who are neither creator nor admin, and ' +
          'for a user without a namespace; `quota_exceeded` (403) where the operator limits traces; `not_found` ' +
          '(404); `deleted` (410) with `unlessDeleted`.',
        tags,
        params: Params,
        querystring: Upsert,
        body: TraceUpsert,
        response: answers(Detail, 404, 410),
      },
    },
    async (request, reply) => okText(reply, await put(request, request.params.externalId)),
  )

  app.patch<{ Params: { externalId: string }; Querystring: WriteQuery; Body: TraceUpsert }>(
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
        querystring: WriteQuery,
        body: TraceUpsert,
        response: answers(Detail, 404),
      },
    },
    async (request, reply) => {
      const caller = requireCaller(request)
      const fields = await withModelName(models, givenFields(request.body))
      const { id, trace } = await writeLocated(
        service,
        caller,
        { ...request.params, ...request.query },
        async ({ id, writer }) => ({
          id,
          trace: await writeTrace(service, request, id, patch(writer, fields)),
        }),
      )
      return okText(reply, await writtenText(service, caller, id, trace))
    },
  )

  app.delete<{ Params: { externalId: string }; Querystring: WriteQuery }>(
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
        querystring: WriteQuery,
        response: answers(z.object({ deleted: done('That the trace is deleted') }), 404),
      },
    },
    async (request, reply) => {
      await writeLocated(service, requireCaller(request), { ...request.params, ...request.query }, ({ id, writer }) =>
        writeTrace(service, request, id, remove(writer)),
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
          'user without a namespace. Errors: `invalid_request` (400) for a `limit`, `cursor` or `sort` that is none.',
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
      const place = placeOf(request.query)
      if (!namespace || limit === 0) return ok(reply, { traces: [] })
      const asked = { namespaceId: namespace.id, publicOnly: false, limit, place }
      return okTexts(reply, await listPage(service, asked))
    },
  )
}

type PageServices = Pick<TraceServices, 'reads' | 'models'>
type AskedPage = { namespaceId: string; publicOnly: boolean; limit: number; place: ListPlace }

/** A page of the traces of a namespace, in parts. */
export const listPage = async (service: PageServices, asked: AskedPage): Promise<string[]> => {
  const { limit, place } = asked
  const rows = await listTraces(service.reads, { ...asked, limit: limit + 1 })
  return pageTexts(service, rows, { limit, cursorOf: (row) => cursorBehind(place.sort, row) })
}

type PageOptions = { readonly limit: number; readonly cursorOf: (row: ListedRow) => string }

/** A page of summaries, in parts, from one row more than it may hold; traces in quarantine are left out. */
export const pageTexts = (
  { reads, models }: PageServices,
  rows: readonly ListedRow[],
  { limit, cursorOf }: PageOptions,
): string[] => {
  const texts = rows.map((row) =>
    reads.isNotQuarantined(`trace-${row.id}`) ? summaryText(rowWithModelName(models, row)) : '',
  )
  const sizes = rows.map(({ weight }, i) => Math.max(weight, Buffer.byteLength(texts[i]!)))
  const count = fitting(sizes, limit)
  const next = rows.length > count ? `,"nextCursor":"${cursorOf(rows[count - 1]!)}"` : ''
  return ['{"traces":', ...arrayTexts(texts.slice(0, count).filter((text) => text !== '')), `${next}}`]
}
