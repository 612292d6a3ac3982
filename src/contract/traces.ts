import { z } from 'zod'
import { EXAMPLE_SLUG, done, nextCursor } from './fields.ts'
import { Cursor, InNamespace, Key, Limit, MAX_LIMIT, Slug, TraceKey, isTrue, pastQuery } from './parameters.ts'
import { type Api, data, json } from './route.ts'
import { TraceCreate, TraceDetail, TraceSummary, TraceUpsert } from './trace.ts'

/** By what a list of traces may be sorted, the newest first. */
export const Sort = z.enum(['createdAt', 'startedAt', 'updatedAt']).meta({
  description:
    'By when the service first got the trace (the default), by when it began (where that is not known, as by `createdAt`), ' +
    'or by when it was last written; the newest first',
  examples: ['startedAt'],
})
export type Sort = z.infer<typeof Sort>

const path = { externalId: TraceKey }
const writeQuery = { namespace: InNamespace.optional() }
const upsertQuery = {
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
    .transform(isTrue)
    .optional(),
}

const OneTrace = z.object({ trace: TraceDetail })
export type OneTrace = z.infer<typeof OneTrace>

const ShownTrace = OneTrace.extend({
  revision: z
    .int()
    .meta({ description: 'The last revision of the append that is shown; of the past only', examples: [4] })
    .optional(),
})
export type ShownTrace = z.infer<typeof ShownTrace>

const TraceList = z.object({
  traces: z.array(TraceSummary).meta({ description: 'The traces of this page' }),
  nextCursor,
})
export type TraceList = z.infer<typeof TraceList>

/** Traces: create, read, change, delete, list. */
export const traces = {
  'POST /v1/traces': {
    tag: 'traces',
    summary: 'Create a trace, or update the one with this externalId',
    description:
      'Writes to the active namespace of the session, or to `namespace`. A trace that is there with this `externalId` is updated as by ' +
      'PUT, so a repetition is harmless. Errors: `invalid_request` (400); `forbidden` (403) for members who are ' +
      'neither creator nor admin, and for a user without a namespace; `quota_exceeded` (403) where the operator ' +
      'limits traces; `not_found` (404); `deleted` (410) with `unlessDeleted`.',
    auth: 'required',
    query: upsertQuery,
    body: json(TraceCreate),
    answer: data(OneTrace),
    errors: ['not_found', 'deleted'],
  },
  'PUT /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Create or update a trace',
    description:
      'Writes to the active namespace of the session, or to `namespace`. On a trace that is there only the given fields change; but ' +
      '`visibility`, when it is not given, becomes `private` (PATCH keeps it). A repetition changes `updatedAt` ' +
      'only. Errors: `invalid_request` (400); `forbidden` (403) for members who are neither creator nor admin, and ' +
      'for a user without a namespace; `quota_exceeded` (403) where the operator limits traces; `not_found` ' +
      '(404); `deleted` (410) with `unlessDeleted`.',
    auth: 'required',
    path,
    query: upsertQuery,
    body: json(TraceUpsert),
    answer: data(OneTrace),
    errors: ['not_found', 'deleted'],
  },
  'PATCH /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Change some fields of a trace',
    description:
      'As its creator or as an admin of its namespace. What is not given stays. Errors: `invalid_request` (400); ' +
      '`forbidden` (403) for members who are neither creator nor admin; `not_found` (404) for an unknown trace and ' +
      'for who is no member.',
    auth: 'required',
    path,
    query: writeQuery,
    body: json(TraceUpsert),
    answer: data(OneTrace),
    errors: ['not_found'],
  },
  'DELETE /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Delete a trace and erase what it held',
    description:
      'As its creator or as an admin of its namespace. Its messages are erased for good. Creating the same ' +
      '`externalId` again starts an empty trace. Errors: `forbidden` (403) for members who are neither creator nor ' +
      'admin; `not_found` (404) for who is no member, and for a repetition.',
    auth: 'required',
    path,
    query: writeQuery,
    answer: data(z.object({ deleted: done('That the trace is deleted') })),
    errors: ['not_found'],
  },
  'GET /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Read a trace',
    description:
      'A public trace for anybody, any other for members of its namespace. When several namespaces have the ' +
      '`externalId`: the one in the active namespace, else in one of yours, else a public one. With `revision` or `at` as ' +
      'it was then, for members only. Errors: `invalid_request` (400) for a revision or a time that is none; ' +
      '`unauthorized` (401) without a token for a trace that is not public, and for the past; `forbidden` (403) for ' +
      'the past of a public trace when you are no member; `not_found` (404), also before the creation and beyond the ' +
      'last revision.',
    auth: 'optional',
    path,
    query: { ...pastQuery, namespace: InNamespace.optional() },
    answer: data(ShownTrace),
    errors: ['unauthorized', 'forbidden', 'not_found'],
  },
  'GET /v1/traces/{externalId}/children': {
    tag: 'traces',
    summary: 'List the traces that a trace has started, newest first',
    description:
      'Those of its namespace that name it as `parentExternalId`, and that the caller may read: all of them for a member, ' +
      'else the public ones; at most 8 MiB a page. Errors: `invalid_request` (400) for a `limit` or `cursor` that is ' +
      'none; `unauthorized` (401) without a token for a trace that is not public; `not_found` (404) as for the trace.',
    auth: 'optional',
    path,
    query: {
      limit: Limit.meta({
        description: `At most this many traces; above ${MAX_LIMIT} counts as ${MAX_LIMIT}, the default`,
      }).optional(),
      cursor: Cursor.optional(),
      namespace: InNamespace.optional(),
    },
    answer: data(TraceList),
    errors: ['unauthorized', 'not_found'],
  },
  'GET /v1/traces': {
    tag: 'traces',
    summary: "List the traces of the session's namespace, newest first",
    description:
      'Those of the active namespace, 50 a page if `limit` does not say otherwise, and at most 8 MiB. Empty for a ' +
      'user without a namespace. Errors: `invalid_request` (400) for a `limit`, `cursor` or `sort` that is none.',
    auth: 'required',
    query: { limit: Limit.optional(), cursor: Cursor.optional(), sort: Sort.optional() },
    answer: data(TraceList),
  },
  'GET /v1/namespaces/{slug}/traces': {
    tag: 'namespaces',
    summary: 'List the traces of a namespace, newest first',
    description:
      'All traces for a member, on one page if `limit` and `cursor` do not say otherwise; only public ones for ' +
      'anybody else, 50 a page by default. Errors: `invalid_request` (400) for a `limit`, `cursor` or `sort` that is none; ' +
      '`not_found` (404) for an unknown namespace.',
    auth: 'optional',
    path: { slug: Slug },
    query: {
      limit: Limit.meta({
        description: 'At most this many traces; above 1000 counts as 1000. Default: 50, and all of them for a member',
      }).optional(),
      cursor: Cursor.optional(),
      sort: Sort.optional(),
    },
    answer: data(TraceList),
    errors: ['not_found'],
  },
} as const satisfies Api
