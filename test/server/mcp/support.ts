import type { App } from '../../support/open-app.ts'
import type { Person } from '../../support/world.ts'
import { until } from '../../support/until.ts'

/** An answer of a tool, as the protocol has it. */
export type ToolResult = {
  readonly isError?: boolean
  readonly resultType?: string
  readonly content: readonly {
    readonly type: string
    readonly text?: string
    readonly uri?: string
    readonly name?: string
  }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

const REVISION = '2026-07-28'

const _meta = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Sends one message of the newest revision to `POST /mcp`. */
export const rpc = async (
  { app }: Pick<App, 'app'>,
  token: string | undefined,
  method: string,
  params: object = {},
  more: Readonly<Record<string, string>> = {},
  url = '/mcp',
) => {
  const name = (params as { name?: string }).name
  const answer = await app.inject({
    method: 'POST',
    url,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
      ...more,
    },
    payload: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  })
  return {
    status: answer.statusCode,
    headers: answer.headers,
    result: answer.json().result as never,
    body: answer.body,
  }
}

/** Calls a tool as a caller. */
export const callTool = async (app: Pick<App, 'app'>, token: string | undefined, name: string, args: object) =>
  (await rpc(app, token, 'tools/call', { name, arguments: args })).result as ToolResult

/** Waits until a search finds so many sessions. */
export const untilFound = (app: Pick<App, 'app'>, token: string, query: string, count: number) =>
  until(async () => {
    const { structuredContent } = await callTool(app, token, 'search_sessions', { query })
    return (structuredContent?.['quotes'] as { results: unknown[] } | undefined)?.results.length === count
  })

/** Stores a session of Claude Code, whose messages are in order. */
export const putTrace = (owner: Pick<Person, 'newTrace'>, id: string, fields: object, messages: readonly object[]) =>
  owner.newTrace(
    { agentId: 'claude-code', ...fields },
    messages.map((one, order) => ({ order, ...one })),
    id,
  )

export const part = (type: string, content: object) => ({ type, content })
export const text = (words: string) => part('text', { text: words })
export const toolCall = (callId: string, toolName: string, args: object) =>
  part('tool_call', { callId, toolName, args })
export const toolResult = (callId: string, toolName: string, output: string, status = 'success') =>
  part('tool_result', { callId, toolName, output, status })

const began = Date.parse('2026-11-26T10:00:00Z')

/** A session in which a file is edited, and a command fails. */
export const edited = [
  { externalId: 'p1', role: 'user', timestamp: began, parts: [text('Mend the parser')] },
  {
    externalId: 'a1',
    role: 'assistant',
    timestamp: began + 1_000,
    parts: [
      part('thinking', { text: 'Where is it?' }),
      toolCall('c1', 'Edit', { file_path: 'src/parse.ts', old_string: 'let a', new_string: 'let a\nlet b' }),
    ],
  },
  { externalId: 'r1', role: 'user', timestamp: began + 2_000, parts: [toolResult('c1', 'Edit', 'done')] },
  {
    externalId: 'a2',
    role: 'assistant',
    timestamp: began + 3_000,
    parts: [toolCall('c2', 'Bash', { command: 'npm test' })],
  },
  {
    externalId: 'r2',
    role: 'user',
    timestamp: began + 4_000,
    parts: [toolResult('c2', 'Bash', '1 test failed', 'error')],
  },
  { externalId: 'p2', role: 'user', timestamp: began + 5_000, textContent: 'Try again' },
  { externalId: 'a3', role: 'assistant', timestamp: began + 6_000, parts: [text('All is well.')] },
] as const
