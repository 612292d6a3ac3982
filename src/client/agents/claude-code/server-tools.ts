import type { Part } from '../agent.ts'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'
import { resultPart } from '../support/parts.ts'
import { mcpToolName, type ToolCalls } from '../support/tool-calls.ts'

/** Whether a block of an answer has the result of a tool that the provider has run, such as `web_search_tool_result` or `advisor_tool_result`. */
export const isResultOfServer = (type: string): boolean => type.endsWith('_tool_result')

/** Members of such results that are text for people, in this order. All others stay away, `encrypted_content` among them. */
const SAID = ['title', 'url', 'text', 'stdout', 'stderr', 'tool_name', 'error_code', 'error_message']

/** The text of a result: of each thing in it what people can read. */
const outputOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(outputOf).filter(Boolean).join('\n')
  if (!isObject(content)) return ''
  const { source, content: inner, tool_references: tools } = content
  const texts = SAID.flatMap((name) => textOf(content[name]) ?? [])
  const document = objectOf(source)['type'] === 'text' ? textOf(objectOf(source)['data']) : undefined
  return [...texts, document, outputOf(inner), outputOf(tools)].filter(Boolean).join('\n')
}

const hasFailed = ({ is_error: isError, content }: Json): boolean => {
  const { type, return_code: code } = objectOf(content)
  return isError === true || String(type).endsWith('_error') || (typeof code === 'number' && code !== 0)
}

/** The name of a tool that the provider runs: with its server, if it is one of an MCP server. */
export const serverToolName = ({ name, server_name: server }: Json): unknown =>
  typeof server === 'string' && typeof name === 'string' ? mcpToolName(server, name) : name

/** The result of a tool that the provider has run, which stands in the answer with the call (README, rule 3). */
export const serverResult = (block: Json, calls: ToolCalls): Part =>
  resultPart(calls.findForResult(block['tool_use_id']), outputOf(block['content']), hasFailed(block))
