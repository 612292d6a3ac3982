import type { Part } from '../agent.ts'
import { argsOf, argsOfJson } from '../support/args.ts'
import { isObject, type Json, textOf } from '../support/json.ts'
import { withoutBase64 } from '../support/media.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { outputText } from './content.ts'
import type { Context } from './items.ts'
import { saysFailed } from './outcomes.ts'

/** The name and the arguments of a call that has no result: the CLI's service answers it itself. */
const servedCall = (payload: Json): { readonly toolName: string; readonly args: Json } =>
  payload['type'] === 'web_search_call'
    ? { toolName: 'web_search', args: argsOf(payload['action']) }
    : { toolName: 'image_generation', args: promptOf(payload) }

const promptOf = ({ revised_prompt: prompt }: Json): Json => (textOf(prompt) === undefined ? {} : { prompt })

const calledTool = /\btools(?:\.([A-Za-z_$][\w$]*)|\[\s*(['"])([^'"\n]+)\2\s*\])\s*\(/g

/** The tools that a script calls, each once, as far as it names them plainly (README, rule 5). */
const toolsIn = (script: string): readonly string[] => [
  ...new Set([...script.matchAll(calledTool)].map(([, name, , quoted]) => (name ?? quoted)!)),
]

const argsOfCall = (payload: Json): Json => {
  if (payload['type'] === 'local_shell_call') return argsOf(payload['action'])
  if (payload['type'] === 'function_call') return argsOfJson(payload['arguments'])
  const { input } = payload
  if (input === undefined) return {}
  const tools = payload['name'] === 'exec' ? toolsIn(String(input)) : []
  return { input, ...(tools.length > 0 && { tools }) }
}

const nameOfCall = (payload: Json): string =>
  payload['type'] === 'local_shell_call' ? 'local_shell' : (textOf(payload['name']) ?? 'unknown')

/** The part of a call that a result follows (README, rule 5). `messageId` is the id of a call without one. */
export const callPart = (payload: Json, calls: ToolCalls, messageId: string): Part => {
  const call = calls.add(payload['call_id'] ?? payload['id'], nameOfCall(payload), messageId)
  return { type: 'tool_call', content: { ...call, args: argsOfCall(payload) } }
}

/** The part of a call without a result (README, rule 5). */
export const servedCallPart = (payload: Json, messageId: string): Part => ({
  type: 'tool_call',
  content: { callId: messageId, ...servedCall(payload) },
})

const saysNoSuccess = (output: unknown): boolean => isObject(output) && output['success'] === false

/** The part of a result (README, rules 5 and 6). */
export const resultPart = (payload: Json, { calls, isFailed }: Pick<Context, 'calls' | 'isFailed'>): Part => {
  const { callId, toolName } = calls.findForResult(payload['call_id'])
  const named = toolName === 'unknown' ? (textOf(payload['name']) ?? toolName) : toolName
  const output = outputText(payload['output'])
  const failed = isFailed(callId) || saysNoSuccess(payload['output']) || saysFailed(output)
  return {
    type: 'tool_result',
    content: { callId, toolName: named, output: withoutBase64(output), status: failed ? 'error' : 'success' },
  }
}
