import { z } from 'zod'
import { reasonsOf } from './errors.ts'
import { EXAMPLE_SLUG, done, nextCursor } from './fields.ts'
import { noNamespace } from './namespaces.ts'
import {
  Cursor,
  IfRevision,
  InNamespace,
  Key,
  Limit,
  MAX_LIMIT,
  Slug,
  TraceKey,
  WithChildren,
  badMoment,
  badPage,
  isTrue,
  pastQuery,
} from './parameters.ts'
import { type Api, data, json } from './route.ts'
import { TraceCreate, TraceDetail, TraceSummary, TraceUpsert } from './trace.ts'

/** The time by which a list of traces is sorted. */
export const Sort = z.enum(['createdAt', 'startedAt', 'updatedAt']).meta({
  description:
    'The time by which the list is sorted, newest first: `createdAt`, `startedAt` (`createdAt` for traces without it, and for those whose `startedAt` was more than two days ahead of the service’s clock) or `updatedAt`. ' +
    'Default: `createdAt`',
  examples: ['startedAt'],
})
export type Sort = z.infer<typeof Sort>

const path = { externalId: TraceKey }
const writeQuery = { namespace: InNamespace.optional() }
const upsertQuery = {
  namespace: Key.meta({
    description:
      'The slug of the namespace to write to; you have to be a member. Default: the active namespace of the session',
    examples: [EXAMPLE_SLUG],
  }).optional(),
  unlessDeleted: z
    .enum(['true', 'false'])
    .meta({
      description:
        '`true`: if the namespace has deleted a trace with this `externalId`, none is created, and the answer is the error `deleted`. ' +
        'Default: `false`',
      examples: ['true'],
    })
    .transform(isTrue)
    .optional(),
}

const TraceMove = z
  .object({ namespace: Key.meta({ description: 'The slug of the namespace to move it to', examples: [EXAMPLE_SLUG] }) })
  .meta({ id: 'TraceMove', description: 'Where a trace moves', examples: [{ namespace: EXAMPLE_SLUG }] })

const OneTrace = z.object({ trace: TraceDetail })
export type OneTrace = z.infer<typeof OneTrace>

/** The revision in the answer to a write to a trace. */
export const writtenRevision = z.int().meta({
  description:
    'The revision of the last event of the trace. If the request had `ifRevision` and has changed something, nothing but these changes lies ' +
    'between the two revisions; if it has changed nothing, others may have written in between',
  examples: [4],
})

const WrittenTrace = OneTrace.extend({ revision: writtenRevision })
export type WrittenTrace = z.infer<typeof WrittenTrace>

const ShownTrace = OneTrace.extend({
  revision: z
    .int()
    .meta({
      description: 'The last revision of the append that is shown; only in answers about the past',
      examples: [4],
    })
    .optional(),
})
export type ShownTrace = z.infer<typeof ShownTrace>

const TraceList = z.object({
  traces: z.array(TraceSummary).meta({ description: 'The traces of this page' }),
  nextCursor,
})
export type TraceList = z.infer<typeof TraceList>

/** The reasons of errors of routes that read one trace. */
export const notPublic = 'The trace is not public, and the request carries no valid token. Log in to read it.'
export const notSignedIn = 'The request carries no valid token. Log in: only members of the namespace may see this.'
export const noTrace =
  'No trace has this `externalId` (in the namespace, if one is given), or you may not read it. Check the id and your token.'
export const pastForMembers =
  'The trace is public, but only members of its namespace may see its past. Ask one of its admins for an invite.'
/** The reasons of errors of routes that write to one trace. */
export const notWriter =
  'You are a member of the namespace, but neither the creator of the trace nor an admin. Ask one of them.'
export const noWritableTrace =
  'No trace has this `externalId` (in the namespace, if one is given), or you are not a member of its namespace. Check the id and your token.'

const upsertErrors = {
  forbidden:
    'You are neither the creator of the trace nor an admin of its namespace: ask one of them. Or you are not a member of any namespace: ' +
    'join one, or create one.',
  quota_exceeded: 'The namespace has as many traces as the operator allows. Delete some of them, or ask the operator.',
  not_found:
    'No namespace that you are a member of has the slug `namespace`, or the `externalId` belongs to a trace of another namespace that ' +
    'you are not a member of. Check the slug, or choose another id.',
  deleted:
    'The namespace has deleted a trace with this `externalId`, and `unlessDeleted` is `true`. Leave it, or send the request without ' +
    '`unlessDeleted` to create a new trace.',
} as const
const badSort = `${badPage} Or \`sort\` is not one of \`createdAt\`, \`startedAt\` and \`updatedAt\`, or \`children\` neither \`true\` nor \`false\`.`

/** Traces: create, read, change, delete, list. */
export const traces = {
  'POST /v1/traces': {
    tag: 'traces',
    summary: 'Create a trace, or update the one with this externalId',
    description:
      'Writes to the active namespace of the session, or to `namespace`. If the namespace has a trace with this `externalId`, the call ' +
      'updates it as PUT does; so the request may be repeated.',
    auth: 'required',
    query: upsertQuery,
    body: json(TraceCreate),
    answer: data(WrittenTrace),
    errors: upsertErrors,
  },
  'PUT /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Create or update a trace',
    description:
      'Writes to the active namespace of the session, or to `namespace`. On an existing trace, fields that the body does not have keep ' +
      'their values, except `visibility`, which becomes `private` (PATCH keeps it). Repeating the request changes only `updatedAt`, which counts ' +
      'as no change for `ifRevision`. A trace that does not exist counts as revision 0: with `ifRevision=0` the request creates it, and writes to no ' +
      'trace that another client has created and filled meanwhile; with any other number it creates none.',
    auth: 'required',
    path,
    query: { ...upsertQuery, ifRevision: IfRevision.optional() },
    body: json(TraceUpsert),
    answer: data(WrittenTrace),
    errors: { ...upsertErrors, ...reasonsOf('changed') },
  },
  'PATCH /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Change some fields of a trace, as its creator or as an admin',
    description:
      'Fields that the body does not have keep their values. A request that changes no field moves `updatedAt`, which counts as no change for ' +
      '`ifRevision`.',
    auth: 'required',
    path,
    query: { ...writeQuery, ifRevision: IfRevision.optional() },
    body: json(TraceUpsert),
    answer: data(WrittenTrace),
    errors: { forbidden: notWriter, not_found: noWritableTrace, ...reasonsOf('changed') },
  },
  'DELETE /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Delete a trace and erase its content, as its creator or as an admin',
    description:
      'The trace and its messages are erased for good. Creating a trace with the same `externalId` afterwards starts an empty one.',
    auth: 'required',
    path,
    query: writeQuery,
    answer: data(z.object({ deleted: done('The trace was deleted'), revision: writtenRevision })),
    errors: {
      forbidden: notWriter,
      not_found: `${noWritableTrace} The same answer comes if the trace has been deleted already.`,
    },
  },
  'POST /v1/traces/{externalId}/move': {
    tag: 'traces',
    summary: 'Move a trace to another namespace, as its creator or as an admin',
    description:
      'You have to be a member of that namespace. What the trace is now moves, with its messages, times, counts, creator and visibility, and so do ' +
      'its sub-agents; its history begins anew there, with an entry that says where it came from. Here it is deleted, and its content is erased; its ' +
      'old address answers 308 to those who may read it there. The request may be repeated: a trace that is there already stays as it is.',
    auth: 'required',
    path,
    query: writeQuery,
    body: json(TraceMove),
    answer: data(OneTrace),
    errors: {
      forbidden: notWriter,
      quota_exceeded: 'The namespace has as much as the operator allows. Delete something there, or ask the operator.',
      not_found: `${noWritableTrace} Or you are not a member of the namespace to move it to.`,
      ...reasonsOf('exists'),
      unavailable:
        'The trace is large and still being moved, or the service cannot answer now. `Retry-After` says after how many seconds to ask again.',
    },
  },
  'GET /v1/traces/{externalId}': {
    tag: 'traces',
    summary: 'Read a trace',
    description:
      'Anybody may read a public trace; only members of its namespace may read any other. If several namespaces have a trace with this ' +
      '`externalId`, the answer is that of your active namespace, else that of another namespace of yours, else a public one. ' +
      '`revision` or `at` shows the trace as it was in the past, to members of its namespace only. An answer of the present has an ETag.',
    auth: 'optional',
    path,
    query: { ...pastQuery, namespace: InNamespace.optional() },
    answer: data(ShownTrace),
    hasEtag: true,
    errors: {
      invalid_request: badMoment,
      unauthorized: `${notPublic} The past of a trace always needs a token.`,
      forbidden: pastForMembers,
      not_found: `${noTrace} Or the revision or the time is before the creation of the trace or after its last revision.`,
    },
  },
  'GET /v1/traces/{externalId}/children': {
    tag: 'traces',
    summary: 'List the traces that a trace has started, newest first',
    description:
      'The traces of the same namespace whose `parentExternalId` is this trace, sub-agents and others: all of them for a member, only public ones for anybody ' +
      'else. A page has at most 8 MiB.',
    auth: 'optional',
    path,
    query: {
      limit: Limit.meta({
        description: `The maximum number of traces; a value above ${MAX_LIMIT} counts as ${MAX_LIMIT}, which is the default`,
      }).optional(),
      cursor: Cursor.optional(),
      namespace: InNamespace.optional(),
    },
    answer: data(TraceList),
    errors: { invalid_request: badPage, unauthorized: notPublic, not_found: noTrace },
  },
  'GET /v1/traces': {
    tag: 'traces',
    summary: 'List the traces of your active namespace, newest first',
    description:
      'A page has 50 traces unless `limit` says otherwise, and at most 8 MiB. The list is empty if you are not a member of any namespace.',
    auth: 'required',
    query: {
      limit: Limit.optional(),
      cursor: Cursor.optional(),
      sort: Sort.optional(),
      children: WithChildren.optional(),
    },
    answer: data(TraceList),
    errors: { invalid_request: badSort },
  },
  'GET /v1/namespaces/{slug}/traces': {
    tag: 'namespaces',
    summary: 'List the traces of a namespace, newest first',
    description:
      'A member gets all traces, on one page unless `limit` or `cursor` is given. Anybody else gets only public traces, 50 on a page ' +
      'unless `limit` says otherwise.',
    auth: 'optional',
    path: { slug: Slug },
    query: {
      limit: Limit.meta({
        description:
          'The maximum number of traces; a value above 1000 counts as 1000. Default: all traces for a member, else 50',
      }).optional(),
      cursor: Cursor.optional(),
      sort: Sort.optional(),
      children: WithChildren.optional(),
    },
    answer: data(TraceList),
    errors: {
      invalid_request: badSort,
      unauthorized: 'Your session ended while the list was read. Log in again.',
      not_found: noNamespace,
    },
  },
} as const satisfies Api
