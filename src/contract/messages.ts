import { z } from 'zod'
import { isLongerThan } from '../base/texts.ts'
import { count, id, nextCursor } from './fields.ts'
import { Message, MessageBatch, MessageUpsert, messageExternalId } from './message.ts'
import { Cursor, InNamespace, Key, Limit, TraceKey, aRevision, isTrue, pastQuery } from './parameters.ts'
import { type Api, data, json } from './route.ts'

const path = { externalId: TraceKey }
const query = { namespace: InNamespace.optional() }

const UpsertedMessage = z.object({
  message: Message,
  partsOmitted: z
    .literal(true)
    .meta({ description: 'The parts hold more than 256 KiB and are left out: the list of messages has them' })
    .optional(),
})
export type UpsertedMessage = z.infer<typeof UpsertedMessage>

const BatchResult = z.object({
  id: id('the message'),
  externalId: messageExternalId,
  result: z.enum(['created', 'updated', 'unchanged']).meta({ description: 'What became of the message' }),
})
export type BatchResult = z.infer<typeof BatchResult>

const BatchResults = z.object({
  messages: z.array(BatchResult).meta({ description: 'One entry for each message of the request, in its order' }),
  created: count('How many messages were new'),
  updated: count('How many messages were changed'),
  unchanged: count('How many messages were there as they were sent'),
  messageCount: count('How many messages the trace has now'),
})
export type BatchResults = z.infer<typeof BatchResults>

const MessageList = z.object({
  messages: z.array(Message).meta({ description: 'The messages of this page' }),
  nextCursor,
  revision: z.int().meta({
    description: 'The revision of the trace that the first page shows, told by all pages: a later `changedSince`',
  }),
})
export type MessageList = z.infer<typeof MessageList>

const MOST_CHARACTERS = 400
export const MOST_MATCHES = 1_000

const Match = z.object({
  externalId: messageExternalId,
  ordinal: count('The place of the message in the list of messages, from 0'),
  part: count('The place of the part in its message, from 0; absent for `textContent`').optional(),
  count: count('How often the text occurs there'),
})
export type Match = z.infer<typeof Match>

const Matches = z.object({
  matches: z.array(Match).meta({ description: `In list order; at most ${MOST_MATCHES}` }),
  total: count('How often the text occurs in all messages, also in those that are not in `matches`'),
})
export type Matches = z.infer<typeof Matches>

/** The messages of a trace: upsert one, upsert up to 200, list, search. */
export const messages = {
  'PUT /v1/traces/{externalId}/messages/{messageExternalId}': {
    tag: 'messages',
    summary: 'Create or update a message',
    description:
      'As the creator of the trace or as an admin of its namespace. On a message that is there only the given ' +
      'fields change; given `parts` replace all that it had. A repetition changes nothing. The answer has the message with its parts, unless ' +
      'these hold more than 256 KiB. Errors: ' +
      '`invalid_request` (400), also beyond 2,000 parts; `forbidden` (403) for members who are neither creator nor ' +
      'admin; `quota_exceeded` (403) where the operator limits bytes; `not_found` (404) for an unknown trace and ' +
      'for who is no member; `payload_too_large` (413) beyond 1 MiB.',
    auth: 'required',
    path: {
      ...path,
      messageExternalId: Key.meta({
        description: 'The id that the client has chosen for the message, unique in its trace',
        examples: ['message-1'],
      }),
    },
    query,
    body: json(MessageUpsert),
    answer: data(UpsertedMessage),
    errors: ['not_found'],
  },
  'POST /v1/traces/{externalId}/messages/batch': {
    tag: 'messages',
    summary: 'Create or update up to 200 messages, all or none',
    description:
      'Each as by PUT, in the order of the request; all are stored or none. A repetition changes nothing. Errors: ' +
      '`invalid_request` (400), also beyond 2,000 parts in a message, 20,000 in the batch, or 200,000 JSON values; ' +
      '`forbidden` (403) for members who are neither creator nor admin; `quota_exceeded` (403) where the operator ' +
      'limits bytes; `not_found` (404) for an unknown trace and for who is no member; `payload_too_large` (413) ' +
      'beyond 16 MiB; `rate_limited` (429) and `unavailable` (503) while too many bytes are on their way.',
    auth: 'required',
    path,
    query,
    body: json(MessageBatch),
    answer: data(BatchResults),
    errors: ['not_found'],
  },
  'GET /v1/traces/{externalId}/messages': {
    tag: 'messages',
    summary: 'List the messages of a trace',
    description:
      'Who may read the trace may read them. Sorted by `order`, then `timestamp`, then arrival; those without one ' +
      'come last. All of them if `limit` does not say otherwise; with `limit` a page holds at most 8 MiB. With `revision` or ' +
      '`at` as they were then, for members only. Errors: `invalid_request` (400) for a `limit`, `cursor`, `changedSince`, ' +
      'revision or time that is none; `unauthorized` (401) without a token for a trace that is not public, and for the ' +
      'past; `forbidden` (403) for the past of a public trace when you are no member; `not_found` (404).',
    auth: 'optional',
    path,
    query: {
      includeParts: z
        .string()
        .meta({
          type: 'boolean',
          description: 'Whether each message comes with its parts. Default: `false`',
          examples: [true],
        })
        .transform(isTrue)
        .optional(),
      limit: Limit.meta({
        description: 'At most this many messages; above 1000 counts as 1000. Default: all of them',
      }).optional(),
      cursor: Cursor.optional(),
      changedSince: aRevision(
        'Only messages that were added or changed after this revision of the trace. When the answer has a lower `revision`, ' +
          'the log is another one than before: read the list anew',
        '12',
      ).optional(),
      ...pastQuery,
      ...query,
    },
    answer: data(MessageList),
    errors: ['unauthorized', 'forbidden', 'not_found'],
  },
  'GET /v1/traces/{externalId}/messages/matches': {
    tag: 'messages',
    summary: 'Find a text in the messages of a trace',
    description:
      'Who may read the trace may search it. Without regard to case, in texts, thinking, names of called tools, what they were ' +
      'called with (texts and numbers), what they gave, and errors. Errors: `invalid_request` (400) for a `q` that is missing, ' +
      'empty or too long; `unauthorized` (401) without a token for a trace that is not public; `not_found` (404).',
    auth: 'optional',
    path,
    query: {
      q: z
        .string()
        .min(1)
        .refine((text) => !isLongerThan(text, MOST_CHARACTERS), {
          error: `must not be longer than ${MOST_CHARACTERS} characters`,
        })
        .meta({ description: 'The text to look for, as it stands: 1 to 400 characters', examples: ['login'] }),
      ...query,
    },
    answer: data(Matches),
    errors: ['unauthorized', 'not_found'],
  },
} as const satisfies Api
