import { z } from 'zod'
import { reasonsOf } from './errors.ts'
import { type Api, json, other } from './route.ts'

/** A message of JSON-RPC; the protocol's own library checks it. */
const RpcMessage = z
  .object({
    jsonrpc: z.unknown().meta({ description: 'Always `2.0`' }).optional(),
    id: z.unknown().meta({ description: 'The id of the request, which the answer repeats' }).optional(),
    method: z.unknown().meta({ description: 'The method that is called, such as `tools/call`' }).optional(),
    params: z.unknown().meta({ description: 'The parameters of the call' }).optional(),
    result: z.unknown().meta({ description: 'The result, in an answer' }).optional(),
    error: z.unknown().meta({ description: 'Why it failed, in an answer' }).optional(),
  })
  .meta({
    id: 'RpcMessage',
    description: 'A message of the Model Context Protocol',
    examples: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'my-client', version: '1.0.0' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    ],
  })

/** For agents: the Model Context Protocol. */
export const mcp = {
  'POST /mcp': {
    id: 'callMcp',
    tag: 'mcp',
    summary: 'Read sessions by the Model Context Protocol',
    description:
      'A server of the protocol, revision 2026-07-28, without sessions: each request is independent, and has the rights of its bearer token. ' +
      'Clients of the previous revision work, too. Its tools only read: `search_sessions`, `list_sessions`, `get_session`, `read_messages`, `files_of` and `blame_lines`. ' +
      'Texts of a session are returned as objects with `quoted: true`, because they are no instructions to the reader.',
    auth: 'required',
    body: json(RpcMessage),
    answer: other(['application/json', 'text/event-stream'], {
      200: RpcMessage,
      202: z.null().meta({ description: 'A notification was taken; there is no answer' }),
    }),
    errors: {
      invalid_request:
        'The body is not a message of the protocol, or the headers contradict it. The answer may be in the form of JSON-RPC.',
      unauthorized:
        'The request carries no valid bearer token; a cookie does not count. Send a token of `POST /v1/session`.',
      ...reasonsOf('payload_too_large', 'rate_limited', 'internal', 'unavailable'),
    },
  },
} as const satisfies Api
