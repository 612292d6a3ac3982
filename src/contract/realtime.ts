import { z } from 'zod'
import { closeCodes } from './close-codes.ts'
import { FeedTrace } from './feed.ts'
import { EXAMPLE_FRAME, MAX_FRAME_BYTES } from './frames.ts'
import { Message } from './message.ts'
import { InNamespace, Key } from './parameters.ts'
import { type Api, data, json, other } from './route.ts'
import { TraceDetail } from './trace.ts'

/** The arguments of a query, and its result. */
type Query = { readonly args: z.ZodObject<{ readonly authToken: typeof authToken }>; readonly value: z.ZodType }

/** The token of the session that the answer is for. Default: the session of the request or the connection. */
const authToken = z.string().optional()

const externalId = Key.meta({ description: 'The externalId of the trace' })

const feedArgs = z.object({
  limit: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'The maximum number of traces; a value above 1000 counts as 1000. Default: 50' }),
  children: z
    .boolean()
    .optional()
    .meta({
      description:
        '`false`: without the traces of sub-agents whose parent is among the traces of the query; each trace says by `childCount` how many it has. ' +
        'Default: `true`',
    }),
  authToken,
})

/** The realtime queries by name. The result is null for what the caller may not read, or may not read any more. */
export const queries = {
  'feed:getPublicTraces': { args: feedArgs, value: z.array(FeedTrace) },
  'feed:getNamespaceTraces': {
    args: feedArgs.extend({
      namespace: Key.optional().meta({
        description:
          'The slug of a namespace of which the user is a member. Default: the active namespace of the session',
      }),
    }),
    value: z.array(FeedTrace).nullable(),
  },
  'traces:get': {
    args: z.object({ externalId, namespace: InNamespace.optional(), authToken }),
    value: TraceDetail.extend({ revision: z.int() }).nullable(),
  },
  'traces:getMessages': {
    args: z.object({
      externalId,
      authToken,
      includeParts: z.boolean().optional(),
      changedSince: z.int().min(0).optional().meta({
        description:
          'Only what was added or changed after this revision of the trace; everything, if its past was erased since',
      }),
      traceId: z.uuid().optional().meta({
        description:
          'The `traceId` of the result that the revision is from. If the trace has been recreated since, the full list is sent',
      }),
    }),
    /** The messages in the order of lists, and the revision of the trace that they show. */
    value: z.object({ messages: z.array(Message), revision: z.int(), traceId: z.string() }).nullable(),
  },
} as const satisfies Readonly<Record<string, Query>>

export type QueryName = keyof typeof queries
export type ArgsOf<Name extends QueryName> = z.input<(typeof queries)[Name]['args']>
export type ValueOf<Name extends QueryName> = z.output<(typeof queries)[Name]['value']>

export const queryNames = Object.keys(queries) as readonly QueryName[]

const AskedQuery = z
  .object({
    query: z
      .string()
      .meta({ description: `The name of the query: ${queryNames.join(', ')}`, examples: ['feed:getPublicTraces'] }),
    args: z.record(z.string(), z.unknown()).default({}).meta({ description: 'The arguments of the query' }),
  })
  .meta({
    id: 'Query',
    description: 'A realtime query',
    examples: [{ query: 'feed:getPublicTraces', args: { limit: 10 } }],
  })

const Value = z.object({
  value: z.unknown().meta({ description: 'The result of the query; null for what you may not read' }),
})
export type Value = z.infer<typeof Value>

/** The frames, queries and close codes of a connection, which no JSON schema describes. */
const connection = `
The service answers a query at once, and again within 250 ms whenever its result changes. A frame is a JSON text of at most ${MAX_FRAME_BYTES / 1024} KiB.

Client frames:
- \`${EXAMPLE_FRAME}\` subscribes to a query, and replaces a subscription with the same \`id\`
- \`{"type":"unsubscribe","id":"feed"}\` ends the subscription
- \`{"type":"ping"}\`; the service answers \`{"type":"pong"}\`

Server frames:
- \`{"type":"result","id":"feed","value":…}\` at once and after each change
- \`{"type":"error","id":"feed","error":{"code","message"}}\` ends that subscription; without \`id\`, the service could not use a frame and ignores it

Queries:
- \`feed:getPublicTraces\` \`{limit?, children?}\`: the newest public traces; with \`children: false\` without sub-agents
- \`feed:getNamespaceTraces\` \`{authToken, limit?, children?, namespace?}\`: the newest traces of the active namespace of the token's session, or of
  \`namespace\`; null without a valid token, and for a namespace of which the user is not a member
- \`traces:get\` \`{externalId, namespace?, authToken?}\`: the trace with its \`revision\`; null if it does not exist, or you may not read it
- \`traces:getMessages\` \`{externalId, authToken?, includeParts?, changedSince?, traceId?}\`: \`{messages, revision, traceId}\`; with \`changedSince\`
  only the messages that have changed since that revision, and afterwards those that have changed since the last result

Authentication: \`authToken\`, else the bearer header or the cookie of the upgrade. A cookie counts only from pages of the service and of \`CORS_ORIGINS\`.

Close codes: ${closeCodes.restarting}: the service stops or restarts, connect again; 1009: a frame is too long; ${closeCodes.silent}: the client has sent \
nothing for a minute; ${closeCodes.slow}: the client reads too slowly; ${closeCodes.tooMany}: the session or the address has too many connections.`

/** Queries that are answered once, or again whenever their result changes, over a WebSocket. */
export const realtime = {
  'POST /v1/query': {
    tag: 'realtime',
    summary: 'Answer a realtime query once',
    description:
      'The first result that `GET /v1/realtime` would send. The answer is for the session of `args.authToken`. Default: the session of ' +
      'the request.',
    auth: 'optional',
    body: json(AskedQuery),
    answer: data(Value),
    errors: {
      invalid_request: 'No query has this name, or its arguments are not valid. `details` says which.',
      forbidden:
        'On a service on loopback, the request comes from a page of another origin. The message names the setting that allows it: `PUBLIC_URL` for the ' +
        'address of the service itself, else `CORS_ORIGINS`.',
      payload_too_large:
        'The body is larger than 1 MiB, or the result is a list of messages of more than 8 MiB. Read that list with ' +
        '`GET /v1/traces/{externalId}/messages`.',
    },
  },
  'GET /v1/realtime': {
    tag: 'realtime',
    summary: 'Subscribe to queries over a WebSocket',
    description: connection,
    auth: 'optional',
    answer: other([], { 101: z.null().meta({ description: 'The connection is a WebSocket from here on' }) }),
    errors: {
      not_found: 'The request is not an upgrade to a WebSocket. Connect with a WebSocket client.',
      rate_limited:
        'The session or the address has too many connections. Close some, or wait as many seconds as `Retry-After` says.',
    },
  },
} as const satisfies Api
