import { z } from 'zod'
import { isLongerThan } from '../base/texts.ts'
import { count, id, nextCursor } from './fields.ts'
import { Message, MessageBatch, MessageUpsert, messageExternalId } from './message.ts'
import {
  Cursor,
  IfRevision,
  InNamespace,
  Key,
  Limit,
  TraceKey,
  aRevision,
  badMoment,
  badPage,
  isTrue,
  pastQuery,
} from './parameters.ts'
import { reasonsOf } from './errors.ts'
import { type Api, data, json } from './route.ts'
import { noTrace, noWritableTrace, notPublic, notWriter, pastForMembers, writtenRevision } from './traces.ts'

const path = { externalId: TraceKey }
const query = { namespace: InNamespace.optional() }
const writeQuery = { ...query, ifRevision: IfRevision.optional() }

const UpsertedMessage = z.object({
  message: Message,
  partsOmitted: z
    .literal(true)
    .meta({
      description: 'The answer leaves out the parts because they have more than 256 KiB; the list of messages has them',
    })
    .optional(),
  revision: writtenRevision,
})
export type UpsertedMessage = z.infer<typeof UpsertedMessage>

const BatchResult = z.object({
  id: id('the message'),
  externalId: messageExternalId,
  result: z.enum(['created', 'updated', 'unchanged']).meta({ description: 'What the request has done to the message' }),
})
export type BatchResult = z.infer<typeof BatchResult>

const BatchResults = z.object({
  messages: z.array(BatchResult).meta({ description: 'One entry for each message of the request, in its order' }),
  created: count('The number of messages that were created'),
  updated: count('The number of messages that were changed'),
  unchanged: count('The number of messages that the service had already, as they were sent'),
  messageCount: count('The number of messages of the trace after the request'),
  revision: writtenRevision,
})
export type BatchResults = z.infer<typeof BatchResults>

const MessageList = z.object({
  messages: z.array(Message).meta({ description: 'The messages of this page' }),
  nextCursor,
  revision: z.int().meta({
    description:
      'The revision of the trace that the first page shows; all pages have the same. Use it as `changedSince` later',
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
  matches: z.array(Match).meta({
    description: `The messages and parts in which the text occurs, in the order of the list; at most ${MOST_MATCHES}`,
  }),
  total: count('How often the text occurs in all messages, including those that `matches` leaves out'),
})
export type Matches = z.infer<typeof Matches>

const tooManyBytes =
  'The messages of the namespace have as many bytes as the operator allows. Delete some traces, or ask the operator.'

/** The messages of a trace: create or update one or up to 200, list, search. */
export const messages = {
  'PUT /v1/traces/{externalId}/messages/{messageExternalId}': {
    tag: 'messages',
    summary: 'Create or update a message, as the creator of the trace or as an admin',
    description:
      'On an existing message, fields that the body does not have keep their values; `parts`, if given, replace all parts of the message. ' +
      'Repeating the request changes nothing. The answer has the message with its parts, unless they have more than 256 KiB.',
    auth: 'required',
    path: {
      ...path,
      messageExternalId: Key.meta({
        description: 'The id that the client has chosen for the message, unique in its trace',
        examples: ['message-1'],
      }),
    },
    query: writeQuery,
    body: json(MessageUpsert),
    answer: data(UpsertedMessage),
    errors: {
      invalid_request:
        'A field of the body is not valid, or the message has more than 2,000 parts. `details` says which.',
      forbidden: notWriter,
      quota_exceeded: tooManyBytes,
      not_found: noWritableTrace,
      payload_too_large:
        'The body is larger than 1 MiB, or than the limit of the operator for a whole namespace. Send a smaller message.',
      ...reasonsOf('changed'),
    },
  },
  'POST /v1/traces/{externalId}/messages/batch': {
    tag: 'messages',
    summary: 'Create or update up to 200 messages, all or none',
    description:
      'The service writes each message as PUT does, in the order of the request, and stores all of them or none. Repeating the request ' +
      'changes nothing.',
    auth: 'required',
    path,
    query: writeQuery,
    body: json(MessageBatch),
    answer: data(BatchResults),
    errors: {
      invalid_request:
        'A field of the body is not valid, or the body has more than 2,000 parts in a message, 20,000 parts in all, or 200,000 JSON ' +
        'values. `details` says which: send fewer messages in one request.',
      forbidden: notWriter,
      quota_exceeded: tooManyBytes,
      not_found: noWritableTrace,
      payload_too_large:
        'The body is larger than 16 MiB, or than the limit of the operator for a whole namespace. Send fewer messages in one request.',
      ...reasonsOf('changed'),
      unavailable:
        'The service cannot store the messages now, for example because its clients are sending too many bytes at once. `Retry-After` says ' +
        'after how many seconds to try again; `details.stored` says whether the messages were stored.',
    },
  },
  'GET /v1/traces/{externalId}/messages': {
    tag: 'messages',
    summary: 'List the messages of a trace',
    description:
      'Whoever may read the trace may read its messages. They are sorted by `order`, then by `timestamp`, then by arrival; messages without ' +
      '`order` or `timestamp` come last. The answer has all messages unless `limit` is given; then a page has at most 8 MiB. `revision` or ' +
      '`at` shows the messages as they were in the past, to members of the namespace only. An answer of the present with at most about ' +
      '256 KiB has an ETag.',
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
        description: 'The maximum number of messages; a value above 1000 counts as 1000. Default: all messages',
      }).optional(),
      cursor: Cursor.optional(),
      changedSince: aRevision(
        'Only messages that were added or changed after this revision of the trace. If the `revision` of the answer is lower, ' +
          'the service has another log than before: read the whole list again',
        '12',
      ).optional(),
      around: Key.meta({
        description:
          'The `externalId` of a message: the page begins at most `limit` / 2 messages before it, or with the first message if there is no `limit`. ' +
          'Only of the present, and not with `cursor` or `changedSince`',
      }).optional(),
      ...pastQuery,
      ...query,
    },
    answer: data(MessageList),
    hasEtag: true,
    errors: {
      invalid_request:
        `${badPage} Or \`changedSince\` is not a revision, or is given together with \`revision\` or \`at\`, or \`around\` with one of ` +
        `them or with \`cursor\`. Or ${badMoment}`,
      unauthorized: `${notPublic} The past of a trace always needs a token.`,
      forbidden: pastForMembers,
      not_found: `${noTrace} Or it has no message \`around\`. Or the revision or the time is before the creation of the trace or after its last revision.`,
    },
  },
  'GET /v1/traces/{externalId}/messages/matches': {
    tag: 'messages',
    summary: 'Find a text in the messages of a trace',
    description:
      'Whoever may read the trace may search it. The search ignores case. It covers texts, thinking, the names of called tools, the texts ' +
      'and numbers of their arguments, their output, and errors.',
    auth: 'optional',
    path,
    query: {
      q: z
        .string()
        .min(1)
        .refine((text) => !isLongerThan(text, MOST_CHARACTERS), {
          error: `must not be longer than ${MOST_CHARACTERS} characters`,
        })
        .meta({ description: 'The text to find: 1 to 400 characters', examples: ['login'] }),
      ...query,
    },
    answer: data(Matches),
    errors: {
      invalid_request: '`q` is missing, empty or longer than 400 characters. Give a text of 1 to 400 characters.',
      unauthorized: notPublic,
      not_found: noTrace,
    },
  },
} as const satisfies Api
