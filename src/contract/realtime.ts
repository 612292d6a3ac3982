import { z } from 'zod'
import { closeCodes } from './close-codes.ts'
import { FeedTrace } from './feed.ts'
import { EXAMPLE_FRAME, MAX_FRAME_BYTES } from './frames.ts'
import { Message } from './message.ts'
import { Key } from './parameters.ts'
import { type Api, data, json, other } from './route.ts'
import { TraceDetail } from './trace.ts'

/** What a query takes and gives. */
type Query = { readonly args: z.ZodObject<{ readonly authToken: typeof authToken }>; readonly value: z.ZodType }

/** Whose answer it is; without a token, that of the session that the request or the connection belongs to. */
const authToken = z.string().optional()

const externalId = Key.meta({ description: 'The externalId of the trace' })

const feedArgs = z.object({
  limit: z.int().min(0).optional().meta({ description: 'At most this many traces; above 1000 counts as 1000' }),
  authToken,
})

/** The realtime queries by name. Null stands for what may not be read, or not any more. */
export const queries = {
  'feed:getPublicTraces': { args: feedArgs, value: z.array(FeedTrace) },
  'feed:getNamespaceTraces': { args: feedArgs, value: z.array(FeedTrace).nullable() },
  'traces:get': {
    args: z.object({ externalId, authToken }),
    value: TraceDetail.extend({ revision: z.int() }).nullable(),
  },
  'traces:getMessages': {
    args: z.object({
      externalId,
      authToken,
      includeParts: z.boolean().optional(),
      changedSince: z
        .int()
        .min(0)
        .optional()
        .meta({ description: 'Only what was added or changed after this revision of the trace' }),
      traceId: z.uuid().optional().meta({
        description: 'The trace that the revision is of, as a value said: another one by that name is told anew',
      }),
    }),
    /** Messages in list order, and the revision of the trace that they show. */
    value: z.object({ messages: z.array(Message), revision: z.int(), traceId: z.string() }).nullable(),
  },
} as const satisfies Readonly<Record<string, Query>>

export type QueryName = keyof typeof queries
export type ArgsOf<Name extends QueryName> = z.input<(typeof queries)[Name]['args']>
export type ValueOf<Name extends QueryName> = z.output<(typeof queries)[Name]['value']>

export const queryNames = Object.keys(queries) as readonly QueryName[]

const AskedQuery = z
  .object({
    query: z.string().meta({ description: `One of ${queryNames.join(', ')}`, examples: ['feed:getPublicTraces'] }),
    args: z.record(z.string(), z.unknown()).default({}).meta({ description: 'The arguments of the query' }),
  })
  .meta({
    id: 'Query',
    description: 'A realtime query',
    examples: [{ query: 'feed:getPublicTraces', args: { limit: 10 } }],
  })

const Value = z.object({
  value: z.unknown().meta({ description: 'What the query gives; null for what may not be read' }),
})
export type Value = z.infer<typeof Value>

/** What the reference says of the frames, queries and close codes of a connection, which no JSON schema tells. */
const connection = `
Answers queries again whenever what they show changes, within 250 ms. Frames are texts of JSON, at most ${MAX_FRAME_BYTES / 1024} KiB long.

Client frames:
- \`${EXAMPLE_FRAME}\` takes the place of a subscription with the same \`id\`
- \`{"type":"unsubscribe","id":"feed"}\`
- \`{"type":"ping"}\`, which is answered \`{"type":"pong"}\`

Server frames:
- \`{"type":"result","id":"feed","value":…}\`, at once and after each change
- \`{"type":"error","id":"feed","error":{"code","message"}}\` ends that subscription; without \`id\` it is about a frame that could not be used

Queries:
- \`feed:getPublicTraces\` \`{limit?}\`: the newest public traces
- \`feed:getNamespaceTraces\` \`{authToken, limit?}\`: those of the token's namespace; null without a valid token
- \`traces:get\` \`{externalId, authToken?}\`: the trace with \`revision\`; null for what may not be read, or is not there
- \`traces:getMessages\` \`{externalId, authToken?, includeParts?, changedSince?, traceId?}\`: \`{messages, revision, traceId}\`; with \`changedSince\` only
  what has changed since that revision, and then what has changed since the value before

Who asks: \`authToken\`; else the bearer header or the cookie of the upgrade. A cookie counts only from the service's own pages and \`CORS_ORIGINS\`.

Close codes: ${closeCodes.restarting} the service stops, come again; 1009 a frame is too long; ${closeCodes.silent} nothing was heard for a minute; \
${closeCodes.slow} the client reads too slowly; ${closeCodes.tooMany} too many connections.`

/** Queries that are answered once, or again and again over a WebSocket. */
export const realtime = {
  'POST /v1/query': {
    tag: 'realtime',
    summary: 'Answer a realtime query once',
    description:
      'The value that `GET /v1/realtime` would send first. `args.authToken` says whose answer it is; without it, the ' +
      'token of the request. Errors: `invalid_request` (400) for a query or arguments that there are not; ' +
      '`payload_too_large` (413) for messages of more than 8 MiB.',
    auth: 'optional',
    body: json(AskedQuery),
    answer: data(Value),
  },
  'GET /v1/realtime': {
    tag: 'realtime',
    summary: 'Subscribe to queries over a WebSocket',
    description: connection,
    auth: 'optional',
    answer: other([], { 101: z.null().meta({ description: 'From here on the connection is a WebSocket' }) }),
    errors: ['not_found'],
  },
} as const satisfies Api
