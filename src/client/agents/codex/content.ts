import type { Part } from '../agent.ts'
import { isObject, type Json, objectOf, parseObject, textOf } from '../support/json.ts'
import { dataUrlPlaceholder, mediaPlaceholder, withoutBase64 } from '../support/media.ts'
import { argsOf, argsOfJson, blocksOf, callPart, resultPart, textPart } from '../support/parts.ts'
import { mcpToolName, type ToolCalls } from '../support/tool-calls.ts'
import { saysFailed } from './outcomes.ts'

const TEXT_TYPES = ['input_text', 'output_text', 'text']

/** The text that replaces an image; undefined if there is no image (README, rule 3). */
const imageText = ({ image_url: image }: Json): string | undefined => {
  const url = textOf(isObject(image) ? image['url'] : image)
  return url === undefined ? undefined : (dataUrlPlaceholder(url, 'image') ?? mediaPlaceholder('image'))
}

/** The text of a content block; undefined for blocks without text, and for encrypted ones. */
export const blockText = (block: Json): string | undefined => {
  if (block['type'] === 'input_image') return imageText(block)
  return TEXT_TYPES.includes(String(block['type'])) ? textOf(block['text']) : undefined
}

/** The output from the old form of a result, with the exit code in front, as newer versions write it (README, rule 5). */
const shellOutput = (text: string): string | undefined => {
  if (!text.startsWith('{"output":')) return undefined
  const { output, metadata } = parseObject(text) ?? {}
  const exitCode = isObject(metadata) ? metadata['exit_code'] : undefined
  return typeof output === 'string' && typeof exitCode === 'number' ? `Exit code: ${exitCode}\n${output}` : undefined
}

/** The text of a tool's output, which is stored as text, as one block, as a list of blocks, or as an object around these. */
export const outputText = (output: unknown): string => {
  if (typeof output === 'string') return shellOutput(output) ?? output
  if (!isObject(output))
    return blocksOf(output)
      .flatMap((block) => blockText(block) ?? [])
      .join('\n')
  return output['content'] === undefined ? (blockText(output) ?? '') : outputText(output['content'])
}

/** The sessions of other agents, by the agents' paths, such as `/root/review`. */
export type AgentSessions = ReadonlyMap<string, string>

/** The activity of a sub-agent that an event tells; newer versions tell it as an item. */
export const activityIn = (payload: Json): Json | undefined => {
  if (payload['type'] === 'sub_agent_activity') return payload
  const item = objectOf(payload['item'])
  return payload['type'] === 'item_completed' && item['type'] === 'SubAgentActivity' ? item : undefined
}

/** The sessions of other agents after one more event. */
export const withAgent = (known: AgentSessions, payload: Json): AgentSessions => {
  const activity = activityIn(payload)
  const [path, session] = [textOf(activity?.['agent_path']), textOf(activity?.['agent_thread_id'])]
  if (path === undefined || session === undefined) return known
  return known.get(path) === session ? known : new Map([...known, [path, session]])
}

/** Whether a message gives a sub-agent its task: it comes from an agent above it. That is its prompt (README, rule 8). */
export const isTask = ({ author, recipient }: Json, agentPath: string | undefined): boolean =>
  agentPath !== undefined && recipient === agentPath && agentPath.startsWith(`${String(author)}/`)

/** The message of one agent to another one, below a line that names both agents and their sessions (README, rule 8). */
export const agentMessageParts = (payload: Json, sessions: AgentSessions): readonly Part[] => {
  const named = (agent: unknown): string => {
    const name = textOf(agent) ?? 'an agent'
    const session = sessions.get(name)
    return session === undefined ? name : `${name} (session ${session})`
  }
  const texts = blocksOf(payload['content']).flatMap((block) => blockText(block) ?? [])
  if (texts.length === 0) return []
  return textPart(`${named(payload['author'])} to ${named(payload['recipient'])}:\n${texts.join('\n')}`)
}

/** What an item needs of the lines before it, and of some lines after it. */
export type Context = {
  readonly calls: ToolCalls
  /** Whether an event says that a call failed. */
  readonly isFailed: (callId: string) => boolean
  readonly agents: AgentSessions
  /** The path of the sub-agent whose session is read. */
  readonly agentPath: string | undefined
  /** The last error of the turn, and the summary of a compaction that is under way. */
  readonly said: { error?: string | undefined; summary?: string | undefined }
}

/** The name and the arguments of a call without a result: the model's provider has executed it. */
const servedCall = (payload: Json): { readonly toolName: string; readonly args: Json } =>
  payload['type'] === 'web_search_call'
    ? { toolName: 'web_search', args: argsOf(payload['action']) }
    : { toolName: 'image_generation', args: promptOf(payload) }

const promptOf = ({ revised_prompt: prompt }: Json): Json => (textOf(prompt) === undefined ? {} : { prompt })

const calledTool = /\btools(?:\.([A-Za-z_$][\w$]*)|\[\s*(['"])([^'"\n]+)\2\s*\])\s*\(/g

/** The tools that a script calls by their plain names, each once (README, rule 5). */
const toolsIn = (script: string): readonly string[] => [
  ...new Set([...script.matchAll(calledTool)].map(([, name, , quoted]) => (name ?? quoted)!)),
]

export const argsOfCall = (payload: Json): Json => {
  if (payload['type'] === 'local_shell_call') return argsOf(payload['action'])
  if (payload['type'] === 'function_call') return argsOfJson(payload['arguments'])
  const { input } = payload
  if (input === undefined) return {}
  const tools = payload['name'] === 'exec' ? toolsIn(String(input)) : []
  return { input, ...(tools.length > 0 && { tools }) }
}

/** The name of a tool. Newer versions store the server of an MCP tool beside it, as `mcp__server` or `mcp__server__` (README, rule 5). */
const toolNameOf = ({ type, name, namespace }: Json): unknown => {
  if (type === 'local_shell_call') return 'local_shell'
  const [, server] = /^mcp__(.+?)(?:__)?$/.exec(String(namespace)) ?? []
  return server === undefined || typeof name !== 'string' || name.startsWith('mcp__') ? name : mcpToolName(server, name)
}

/** The part of a call whose result follows as another item (README, rule 5). A call without an id gets `fallbackId`. */
export const itemCallPart = (payload: Json, calls: ToolCalls, fallbackId: string): Part =>
  callPart(calls, {
    id: payload['call_id'] ?? payload['id'],
    name: toolNameOf(payload),
    args: argsOfCall(payload),
    fallbackId,
  })

/** The part of a call without a result (README, rule 5). */
export const servedCallPart = (payload: Json, messageId: string): Part => ({
  type: 'tool_call',
  content: { callId: messageId, ...servedCall(payload) },
})

const saysNoSuccess = (output: unknown): boolean => isObject(output) && output['success'] === false

/** The part of a result (README, rules 5 and 6). */
export const itemResultPart = (payload: Json, { calls, isFailed }: Context): Part => {
  const { callId, toolName: known } = calls.findForResult(payload['call_id'])
  const toolName = known === 'unknown' ? (textOf(payload['name']) ?? known) : known
  const output = outputText(payload['output'])
  const hasFailed = isFailed(callId) || saysNoSuccess(payload['output']) || saysFailed(output)
  return resultPart({ callId, toolName }, withoutBase64(output), hasFailed)
}
