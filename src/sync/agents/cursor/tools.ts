import type { Part } from '../agent.ts'
import { argsWithoutBinary } from '../support/args.ts'
import { isExternalId } from '../support/external-ids.ts'
import { isObject, type Json, objectOf, parseObject, textOf } from '../support/json.ts'
import { outputOfValue } from '../support/output.ts'

/** The value of a JSON text, with exact numbers; the text itself when it is none. */
const valueOf = (text: unknown): unknown => {
  if (typeof text !== 'string') return text
  const parsed = parseObject(`{"value":${text}}`)
  return parsed && Object.keys(parsed).length === 1 ? parsed['value'] : text
}

const argumentsOf = ({ rawArgs, params }: Json): Json => {
  const given = textOf(rawArgs) === undefined ? params : rawArgs
  return argsWithoutBinary(given === '' ? undefined : valueOf(given))
}

const errorOf = ({ error }: Json): string | undefined => {
  const value = valueOf(error)
  const { clientVisibleErrorMessage, message } = objectOf(value)
  return textOf(clientVisibleErrorMessage) ?? textOf(message) ?? textOf(isObject(value) ? outputOfValue(value) : value)
}

const hasExited = (result: unknown): boolean =>
  [objectOf(result)['exitCodeV2'], objectOf(result)['exitCode']].some((code) => typeof code === 'number' && code !== 0)

const ENDED = ['completed', 'success', 'error', 'cancelled']

/** A call, and its result once there is one (README, rule 5). `id` is that of the bubble. */
export const toolParts = (tool: Json, id: string): readonly Part[] => {
  const { toolCallId, status } = tool
  const names = { callId: isExternalId(toolCallId) ? toolCallId : id, toolName: textOf(tool['name']) ?? 'unknown' }
  const made: Part = { type: 'tool_call', content: { ...names, args: argumentsOf(tool) } }
  const [result, error] = [valueOf(tool['result']), errorOf(tool)]
  const output = outputOfValue(result)
  if (output === '' && error === undefined && !ENDED.includes(String(status))) return [made]
  const failed = status === 'error' || status === 'cancelled' || error !== undefined || hasExited(result)
  const content = {
    ...names,
    output: output === '' ? (error ?? '') : output,
    status: failed ? 'error' : 'success',
  } as const
  return [made, { type: 'tool_result', content }]
}
