import { z } from 'zod'
import { type EntryType, entryMeanings, entryTypes } from './entry-types.ts'
import { EXAMPLE_ID, count, id, nextCursor, text, time } from './fields.ts'
import { Cursor, InNamespace, Key, Limit, Slug, TraceKey, aRevision } from './parameters.ts'
import { type Api, data } from './route.ts'
import { aTime } from './times.ts'

const pointer = text('Which member, as a JSON pointer', '/title')
const value = z.unknown().meta({ description: 'What it is from then on', examples: ['Mended'] })
const Operation = z.discriminatedUnion('op', [
  z.object({ op: z.enum(['add', 'replace']).meta({ description: 'Sets a member' }), path: pointer, value }),
  z.object({ op: z.literal('remove').meta({ description: 'Removes a member' }), path: pointer }),
])

const Patch = z
  .array(Operation)
  .meta({ description: 'What changed, as RFC 6902', examples: [[{ op: 'replace', path: '/title', value: 'Mended' }]] })

const EntryTypeName = z.enum(entryTypes).meta({
  id: 'EntryType',
  description: `What an entry of a timeline is about: ${entryTypes.map((type) => `\`${type}\`: ${entryMeanings[type]}`).join('; ')}`,
})

const Entry = z
  .object({
    revision: z.int().meta({ description: 'The revision of the last event that the entry stands for', examples: [4] }),
    type: EntryTypeName,
    at: time('When it happened'),
    actor: z
      .object({ userId: id('the user'), displayName: text('The name of the user now', 'Ada').optional() })
      .meta({ description: 'Who did it; absent where the service itself did' })
      .optional(),
    text: text('What happened, in one sentence, with the names of now', 'Ada made the trace public'),
    trace: z
      .object({ id: id('the trace'), externalId: text('The externalId of the trace') })
      .meta({ description: 'The trace that it happened to; in the timeline of a namespace only' })
      .optional(),
    messages: z
      .object({ added: count('How many messages were new'), updated: count('How many were changed') })
      .meta({ description: 'Of `MessagesUpserted` only' })
      .optional(),
    patch: Patch.optional(),
    requestId: text('The `x-request-id` of the request that did it').optional(),
    messageCount: count('Of a deletion: how many messages the trace had').optional(),
    createdAt: time('Of a deletion: when the trace was created').optional(),
  })
  .meta({ id: 'TimelineEntry', description: 'Something that happened to a trace or a namespace, and who did it' })
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
export type LogEvent = z.infer<typeof LogEvent>

const OneEvent = z.object({ event: LogEvent })
export type OneEvent = z.infer<typeof OneEvent>

const revisionOf = (description: string) => z.int().meta({ description, examples: [4] })

const ChangedMessage = z.object({
  externalId: text('The externalId of the message', 'message-1'),
  patch: Patch.meta({ description: 'What changed of its fields and `parts`, a part always whole, as RFC 6902' }),
})
export type ChangedMessage = z.infer<typeof ChangedMessage>

const Difference = z.object({
  from: revisionOf('The revision to begin with'),
  to: revisionOf('The revision to end with'),
  patch: Patch.meta({
    description: 'What changed of the trace itself, as RFC 6902: its fields, `ai_title` and `ai_summary`',
  }),
  messages: z
    .object({
      added: z
        .array(text('The externalId of a message', 'message-1'))
        .meta({ description: 'The messages that were added, in the order of their arrival' }),
      updated: z
        .array(ChangedMessage)
        .meta({ description: 'The messages that were there before and differ, in the order of their arrival' }),
    })
    .meta({ description: 'What changed of the messages' }),
})
export type Difference = z.infer<typeof Difference>

const isType = (text: string): boolean => entryTypes.includes(text as EntryType)

const Types = z
  .string()
  .refine((text) => text.split(',').every(isType), { error: 'must be types of entries, separated by commas' })
  .meta({
    description: `Only entries of these types, separated by commas: ${entryTypes.map((type) => `\`${type}\``).join(', ')}`,
    examples: ['TraceUpdated,TraceDeleted'],
  })
  .transform((text) => text.split(',') as EntryType[])

const filters = {
  limit: Limit.meta({
    description: 'At most this many entries; above 1000 counts as 1000. Default: 100',
  }).optional(),
  cursor: Cursor.optional(),
  order: z.enum(['asc', 'desc']),
  type: Types.optional(),
  actor: z
    .string()
    .meta({ description: 'Only what the user with this id did', examples: [EXAMPLE_ID] })
    .optional(),
  from: aTime('Only what happened at this time or later').optional(),
  to: aTime('Only what happened before this time').optional(),
}

const orderOf = (first: 'asc' | 'desc') =>
  filters.order
    .meta({ description: `\`asc\`: oldest first; \`desc\`: newest first. Default: \`${first}\``, examples: ['desc'] })
    .optional()

const TIMELINE_ERRORS =
  '`invalid_request` (400) for a `limit`, `cursor`, `order`, `type` or time that is none; `unauthorized` (401); `forbidden` (403) ' +
  'for others; `not_found` (404); `unavailable` (503) while the timeline is behind.'

const EVENT_ERRORS =
  '`invalid_request` (400) for a revision that is none; `unauthorized` (401); `forbidden` (403) for others; '

const revision = aRevision('The revision of the event in its stream', 4)

/** Who did what and when, and how a trace was at an earlier time. */
export const history = {
  'GET /v1/traces/{externalId}/events': {
    tag: 'history',
    summary: 'Read the timeline of a trace',
    description:
      'Who did what to it and when, for members of its namespace, also where the trace is public. An entry is an event, but the ' +
      'messages of one request are one entry. A trace that was deleted and created again begins a new timeline. Errors: ' +
      TIMELINE_ERRORS,
    auth: 'optional',
    path: { externalId: TraceKey },
    query: { ...filters, order: orderOf('asc'), namespace: InNamespace.optional() },
    answer: data(EntryList),
    errors: ['unauthorized', 'forbidden', 'not_found'],
  },
  'GET /v1/namespaces/{slug}/events': {
    tag: 'history',
    summary: 'Read the timeline of a namespace',
    description:
      'For its admins: its own events, and those of its traces. Of deleted traces only the deletions are left. Invites are shown ' +
      'by the first four characters of their codes. Errors: ' +
      TIMELINE_ERRORS,
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
    errors: ['forbidden', 'not_found'],
  },
  'GET /v1/traces/{externalId}/events/{revision}': {
    tag: 'history',
    summary: 'Read one event of a trace',
    description: `For members of its namespace. Errors: ${EVENT_ERRORS}\`not_found\` (404), also beyond the end and for what was erased.`,
    auth: 'optional',
    path: { externalId: TraceKey, revision },
    query: { namespace: InNamespace.optional() },
    answer: data(OneEvent),
    errors: ['unauthorized', 'forbidden', 'not_found'],
  },
  'GET /v1/namespaces/{slug}/events/{revision}': {
    tag: 'history',
    summary: "Read one of the namespace's own events",
    description:
      'For its admins. Exactly as it was recorded, unlike the entries of the timeline: the event of an invite holds its code ' +
      'and its e-mail address, which admins see in the list of invites, too. Errors: ' +
      `${EVENT_ERRORS}\`not_found\` (404), also beyond the end.`,
    auth: 'required',
    path: { slug: Slug, revision },
    answer: data(OneEvent),
    errors: ['forbidden', 'not_found'],
  },
  'GET /v1/namespaces/{slug}/deletions/{traceId}': {
    tag: 'history',
    summary: 'Read the event that deleted a trace',
    description: `For the admins of its namespace. Errors: ${EVENT_ERRORS}\`not_found\` (404) for a trace that was not deleted.`,
    auth: 'required',
    path: { slug: Slug, traceId: Key.meta({ description: 'The id of the trace', examples: [EXAMPLE_ID] }) },
    answer: data(OneEvent),
    errors: ['forbidden', 'not_found'],
  },
  'GET /v1/traces/{externalId}/diff': {
    tag: 'history',
    summary: 'Compare a trace with what it was',
    description:
      'For members of its namespace. A revision in the middle of an append stands for the whole append. Errors: ' +
      '`invalid_request` (400) for a revision that is none, or a `from` behind `to`; `unauthorized` (401); `forbidden` ' +
      '(403) for others; `not_found` (404), also before the creation and beyond the last revision.',
    auth: 'optional',
    path: { externalId: TraceKey },
    query: {
      from: aRevision('The revision of the trace to begin with', '1'),
      to: aRevision('The revision to end with. Default: the last one', '4').optional(),
      namespace: InNamespace.optional(),
    },
    answer: data(Difference),
    errors: ['unauthorized', 'forbidden', 'not_found'],
  },
} as const satisfies Api
