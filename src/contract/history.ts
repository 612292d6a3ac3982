import { z } from 'zod'
import { type EntryType, entryMeanings, entryTypes } from './entry-types.ts'
import { EXAMPLE_ID, EXAMPLE_SLUG, count, id, nextCursor, text, time } from './fields.ts'
import { noNamespace, notAdmin } from './namespaces.ts'
import { Cursor, InNamespace, Key, Limit, Slug, TraceKey, aRevision, badPage, aTime } from './parameters.ts'
import { type Api, data } from './route.ts'
import { noTrace, noWritableTrace, notSignedIn, notWriter, pastForMembers } from './traces.ts'

const pointer = text('The field that changes, as a JSON pointer', '/title')
const value = z.unknown().meta({ description: 'The new value', examples: ['Mended'] })
const Operation = z.discriminatedUnion('op', [
  z.object({ op: z.enum(['add', 'replace']).meta({ description: 'Sets the field' }), path: pointer, value }),
  z.object({ op: z.literal('remove').meta({ description: 'Removes the field' }), path: pointer }),
])

const Patch = z.array(Operation).meta({
  description: 'The changes, as a JSON patch (RFC 6902)',
  examples: [[{ op: 'replace', path: '/title', value: 'Mended' }]],
})

const EntryTypeName = z.enum(entryTypes).meta({
  id: 'EntryType',
  description: `The type of an entry. ${entryTypes.map((type) => `\`${type}\`: ${entryMeanings[type]}`).join('; ')}`,
})

const Entry = z
  .object({
    revision: z.int().meta({ description: 'The revision of the last event of the entry', examples: [4] }),
    type: EntryTypeName,
    at: time('When it happened'),
    actor: z
      .object({ userId: id('the user'), displayName: text('The present name of the user', 'Ada').optional() })
      .meta({ description: 'The user who did it; absent if the service did it itself' })
      .optional(),
    text: text('What happened, as an English sentence with present names', 'Ada made the trace public'),
    trace: z
      .object({ id: id('the trace'), externalId: text('The externalId of the trace') })
      .meta({ description: 'The trace that it happened to; only in the timeline of a namespace' })
      .optional(),
    messages: z
      .object({
        added: count('The number of messages that were added'),
        updated: count('The number of messages that were changed'),
      })
      .meta({ description: 'The messages of the request; only for `MessagesUpserted`' })
      .optional(),
    patch: Patch.optional(),
    requestId: text('The `x-request-id` of the request that did it').optional(),
    messageCount: count('For a deletion: the number of messages that the trace had').optional(),
    createdAt: time('For a deletion: when the trace was created').optional(),
    erased: count('For an erased past: the number of events that were erased').optional(),
    movedFrom: text('The slug of the namespace that the trace was moved from', EXAMPLE_SLUG).optional(),
    movedTo: text('The slug of the namespace that the trace was moved to', EXAMPLE_SLUG).optional(),
  })
  .meta({
    id: 'TimelineEntry',
    description: 'An event of a trace or a namespace, or the messages of one request, and who caused it',
  })
export type Entry = z.infer<typeof Entry>

const EntryList = z.object({
  events: z.array(Entry).meta({ description: 'The entries of this page' }),
  nextCursor,
})
export type EntryList = z.infer<typeof EntryList>

const LogEvent = z
  .object({
    id: id('the event'),
    stream: text('The stream that the event is in', 'trace-0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b'),
    revision: z.int().meta({ description: 'The number of the event in its stream, from 0' }),
    type: text('The type of the event', 'TraceUpdated'),
    at: time('When it was recorded'),
    actor: z
      .object({ userId: id('the user'), sessionId: id('the session').optional() })
      .meta({ description: 'The user who caused it; absent if the service did it itself' })
      .optional(),
    requestId: text('The `x-request-id` of the request that caused it').optional(),
    data: z.record(z.string(), z.unknown()).meta({ description: 'The data of the event, exactly as recorded' }),
    schema: z.int().meta({ description: 'The version of the schema of `data`', examples: [1] }),
  })
  .meta({ id: 'LogEvent', description: 'An event, as the log has it' })
export type LogEvent = z.infer<typeof LogEvent>

const OneEvent = z.object({ event: LogEvent })
export type OneEvent = z.infer<typeof OneEvent>

const revisionOf = (description: string) => z.int().meta({ description, examples: [4] })

const ChangedMessage = z.object({
  externalId: text('The externalId of the message', 'message-1'),
  patch: Patch.meta({
    description:
      'The changes of its fields and `parts`, as a JSON patch (RFC 6902); a changed part is replaced as a whole',
  }),
})
export type ChangedMessage = z.infer<typeof ChangedMessage>

const Difference = z.object({
  from: revisionOf('The older revision'),
  to: revisionOf('The newer revision'),
  patch: Patch.meta({
    description:
      'The changes of the fields of the trace, `ai_title` and `ai_summary` included, as a JSON patch (RFC 6902)',
  }),
  messages: z
    .object({
      added: z
        .array(text('The externalId of a message', 'message-1'))
        .meta({ description: 'The messages that were added, in the order of arrival' }),
      updated: z
        .array(ChangedMessage)
        .meta({ description: 'The messages that exist in both revisions and differ, in the order of arrival' }),
    })
    .meta({ description: 'The changes of the messages' }),
})
export type Difference = z.infer<typeof Difference>

const isType = (text: string): boolean => entryTypes.includes(text as EntryType)

const Types = z
  .string()
  .refine((text) => text.split(',').every(isType), {
    error: `must be types of entries, separated by commas, of ${entryTypes.join(', ')}`,
  })
  .meta({
    description: `Only entries of these types, separated by commas: ${entryTypes.map((type) => `\`${type}\``).join(', ')}`,
    examples: ['TraceUpdated,TraceDeleted'],
  })
  .transform((text) => text.split(',') as EntryType[])

const filters = {
  limit: Limit.meta({
    description: 'The maximum number of entries; a value above 1000 counts as 1000. Default: 100',
  }).optional(),
  cursor: Cursor.optional(),
  order: z.enum(['asc', 'desc']),
  type: Types.optional(),
  actor: z
    .string()
    .meta({ description: 'Only entries caused by the user with this id', examples: [EXAMPLE_ID] })
    .optional(),
  from: aTime('Only entries from this time on').optional(),
  to: aTime('Only entries before this time').optional(),
}

const orderOf = (first: 'asc' | 'desc') =>
  filters.order
    .meta({ description: `\`asc\`: oldest first; \`desc\`: newest first. Default: \`${first}\``, examples: ['desc'] })
    .optional()

const badFilter = `${badPage} Or \`order\`, \`type\` or a time is not valid. \`details\` says which.`
const behind =
  'The timeline does not show the newest events yet, or the service cannot answer now. `Retry-After` says after how many seconds to try again.'
const badRevision = 'The revision is not a whole number. Give one of at least 0.'
const forMembers =
  'The trace is public, but only members of its namespace may see its history. Ask one of its admins for an invite.'

const revision = aRevision('The revision of the event in its stream', 4)

const ErasedPast = z.object({
  revision: z.int().meta({
    description: 'The revision of the event that erased the past, or the present one if there was nothing to erase',
    examples: [12],
  }),
  erased: count('The number of events that were erased'),
})

/** Who did what and when, and how a trace was at an earlier time. */
export const history = {
  'POST /v1/traces/{externalId}/history/erase': {
    tag: 'history',
    summary: 'Erase the past of a trace, as its creator or as an admin',
    description:
      'The present state stays: messages, ids, times, counts and visibility. All earlier events are erased for good, as those of a deleted ' +
      'trace are; so are a title and a summary that the service made, which it makes again. The timeline of the trace begins with this ' +
      'erasure; the timeline of the namespace keeps who did what before and when, without content. Other writes to the trace wait meanwhile. ' +
      'The request may be repeated: a trace that has no past stays as it is.',
    auth: 'required',
    path: { externalId: TraceKey },
    query: { namespace: InNamespace.optional() },
    answer: data(ErasedPast),
    errors: {
      forbidden: notWriter,
      not_found: noWritableTrace,
      unavailable:
        'The trace is large and its past is still being erased, or the service cannot answer now. `Retry-After` says after how many ' +
        'seconds to ask again.',
    },
  },
  'GET /v1/traces/{externalId}/events': {
    tag: 'history',
    summary: 'Read the timeline of a trace',
    description:
      'Who did what to the trace, and when; for members of its namespace, even if the trace is public. Each entry is an event, except ' +
      'that the messages of one request are one entry. A trace that was deleted and created again starts a new timeline.',
    auth: 'optional',
    path: { externalId: TraceKey },
    query: { ...filters, order: orderOf('asc'), namespace: InNamespace.optional() },
    answer: data(EntryList),
    errors: {
      invalid_request: badFilter,
      unauthorized: notSignedIn,
      forbidden: forMembers,
      not_found: noTrace,
      unavailable: behind,
    },
  },
  'GET /v1/namespaces/{slug}/events': {
    tag: 'history',
    summary: 'Read the timeline of a namespace, as an admin',
    description:
      'The events of the namespace itself and of its traces. A deleted trace leaves only its deletion. An erased past leaves ' +
      'entries without content, right before the entry of the erasure. Invites appear with the first four characters of their codes.',
    auth: 'required',
    path: { slug: Slug },
    query: {
      ...filters,
      order: orderOf('desc'),
      trace: z
        .string()
        .meta({ description: 'Only entries of the trace with this externalId', examples: ['my-first-session'] })
        .optional(),
    },
    answer: data(EntryList),
    errors: { invalid_request: badFilter, forbidden: notAdmin, not_found: noNamespace, unavailable: behind },
  },
  'GET /v1/traces/{externalId}/events/{revision}': {
    tag: 'history',
    summary: 'Read one event of a trace',
    description: 'The event as the log has it. For members of the namespace of the trace, even if the trace is public.',
    auth: 'optional',
    path: { externalId: TraceKey, revision },
    query: { namespace: InNamespace.optional() },
    answer: data(OneEvent),
    errors: {
      invalid_request: badRevision,
      unauthorized: notSignedIn,
      forbidden: forMembers,
      not_found: `${noTrace} Or the trace has no event with this revision, or the event was erased.`,
    },
  },
  'GET /v1/namespaces/{slug}/events/{revision}': {
    tag: 'history',
    summary: 'Read one event of the namespace itself, as an admin',
    description:
      'The event as the log has it. Unlike the timeline, it shows the code and the e-mail address of an invite, which admins see in ' +
      'the list of invites, too.',
    auth: 'required',
    path: { slug: Slug, revision },
    answer: data(OneEvent),
    errors: {
      invalid_request: badRevision,
      forbidden: notAdmin,
      not_found: 'No namespace has this slug, or it has no event with this revision. Check both.',
    },
  },
  'GET /v1/namespaces/{slug}/deletions/{traceId}': {
    tag: 'history',
    summary: 'Read the event that deleted a trace, as an admin',
    description: 'The event of the last deletion, as the log has it: it says who deleted the trace, and when.',
    auth: 'required',
    path: { slug: Slug, traceId: Key.meta({ description: 'The id of the trace', examples: [EXAMPLE_ID] }) },
    answer: data(OneEvent),
    errors: {
      forbidden: notAdmin,
      not_found: 'No namespace has this slug, or no trace with this id was deleted from it. Check both.',
    },
  },
  'GET /v1/traces/{externalId}/diff': {
    tag: 'history',
    summary: 'Compare two revisions of a trace',
    description:
      'For members of the namespace of the trace. A revision within an append counts as the end of the append.',
    auth: 'optional',
    path: { externalId: TraceKey },
    query: {
      from: aRevision('The older revision of the trace', '1'),
      to: aRevision('The newer revision of the trace. Default: the last one', '4').optional(),
      namespace: InNamespace.optional(),
    },
    answer: data(Difference),
    errors: {
      invalid_request:
        '`from` is missing, `from` or `to` is not a whole number, or `from` is greater than `to`. Give the older revision as `from`.',
      unauthorized: notSignedIn,
      forbidden: pastForMembers,
      not_found: `${noTrace} Or a revision is before the creation of the trace or after its last revision.`,
      unavailable: behind,
    },
  },
} as const satisfies Api
