import type { Part } from '../agent.ts'
import { argsOf, argsOfJson } from '../support/args.ts'
import { type Json, textOf } from '../support/json.ts'
import { withoutBase64 } from '../support/media.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { outputText } from './content.ts'

/** The name and the arguments of a call that has no result: the CLI's service answers it itself. */
const servedCall = (payload: Json): { readonly toolName: string; readonly args: Json } =>
  payload['type'] === 'web_search_call'
    ? { toolName: 'web_search', args: argsOf(payload['action']) }
    : { toolName: 'image_generation', args: promptOf(payload) }

const promptOf = ({ revised_prompt: prompt }: Json): Json => (textOf(prompt) === undefined ? {} : { prompt })

const argsOfCall = (payload: Json): Json => {
  if (payload['type'] === 'local_shell_call') return argsOf(payload['action'])
  if (payload['type'] === 'function_call') return argsOfJson(payload['arguments'])
  return payload['input'] === undefined ? {} : { input: payload['input'] }
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

/** The part of a result (README, rule 5). */
export const resultPart = (payload: Json, calls: ToolCalls): Part => {
  const { callId, toolName } = calls.findForResult(payload['call_id'])
  const named = toolName === 'unknown' ? (textOf(payload['name']) ?? toolName) : toolName
  return {
    type: 'tool_result',
    content: { callId, toolName: named, output: withoutBase64(outputText(payload['output'])), status: 'success' },
  }
}
