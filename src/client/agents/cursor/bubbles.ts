import type { Part, SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { isObject, type Json, millisecondsOf, objectOf, objectsIn, parseObject, textOf } from '../support/json.ts'
import {
  argsWithoutBinary,
  callWithResult,
  newMessage,
  outputOfValue,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import { mcpToolName } from '../support/tool-calls.ts'

/** The value of a JSON text, with exact numbers; the text itself if it is not JSON. */
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

const exitedWithError = (result: unknown): boolean =>
  [objectOf(result)['exitCodeV2'], objectOf(result)['exitCode']].some((code) => typeof code === 'number' && code !== 0)

const ENDED = ['completed', 'success', 'error', 'cancelled']

/** The result of a call; undefined while there is none (README, rule 5). */
const resultOf = (tool: Json): { readonly output: string; readonly hasFailed: boolean } | undefined => {
  const { status } = tool
  const [result, error] = [valueOf(tool['result']), errorOf(tool)]
  const output = outputOfValue(result)
  if (output === '' && error === undefined && !ENDED.includes(String(status))) return undefined
  return {
    output: output === '' ? (error ?? '') : output,
    hasFailed: status === 'error' || status === 'cancelled' || error !== undefined || exitedWithError(result),
  }
}

/** The name of a tool; with its server, where it is one of an MCP server (README, rule 5). */
const toolNameOf = ({ name, params }: Json): unknown => {
  const [called] = objectsIn(objectOf(valueOf(params))['tools'])
  const [server, tool] = [textOf(called?.['serverName']), textOf(called?.['name'])]
  return server !== undefined && tool !== undefined ? mcpToolName(server, tool) : name
}

/** A call, and its result once there is one (README, rule 5). */
const toolParts = (tool: Json, fallbackId: string): readonly Part[] => {
  const { toolCallId: id } = tool
  return callWithResult({ id, name: toolNameOf(tool), args: argumentsOf(tool), fallbackId }, resultOf(tool))
}

/** A bubble of a session. `number` is its place, from 1. */
export type Bubble = { readonly id: string; readonly number: number; readonly json: Json }

const TOOL = 15
const YEAR_2000 = Date.UTC(2000)

/** When a bubble was made. In some versions the start is relative to another time of the same bubble. */
const timeOf = ({ createdAt, timingInfo }: Json): number | undefined => {
  const created = typeof createdAt === 'number' ? createdAt : millisecondsOf(createdAt)
  const { clientStartTime: start, clientRpcSendTime, clientSettleTime, clientEndTime } = objectOf(timingInfo)
  const end = [clientRpcSendTime, clientSettleTime, clientEndTime].find((time) => typeof time === 'number' && time > 0)
  const relative = typeof start === 'number' && start < YEAR_2000
  const time = created ?? (relative && typeof end === 'number' ? end - start : start)
  return typeof time === 'number' && time >= YEAR_2000 && time < 8.64e15 ? Math.round(time) : undefined
}

/** The tools by bubble in a session of an earlier version: an object, or its JSON text. */
export const toolsOf = (composer: Json): Json => {
  const capabilities = Array.isArray(composer['capabilities']) ? composer['capabilities'] : []
  const maps = capabilities
    .filter((one) => objectOf(one)['type'] === TOOL)
    .map((one) => objectOf(objectOf(one)['data'])['bubbleDataMap'])
  return Object.fromEntries(
    maps.flatMap((map) => Object.entries(typeof map === 'string' ? (parseObject(map) ?? {}) : objectOf(map))),
  )
}

const toolOf = ({ id, json }: Bubble, tools: Json): Json | undefined => {
  const own = objectOf(json['toolFormerData'])
  if (textOf(own['name']) !== undefined) return own
  const listed = tools[id]
  return json['capabilityType'] === TOOL && isObject(listed) ? listed : undefined
}

/** The message of a bubble (README, rules 4 and 5); undefined if it has no parts, or an unknown type. */
export const messageOf = (bubble: Bubble, composer: Json, tools: Json): SessionMessage | undefined => {
  const { json, number: order } = bubble
  const role = json['type'] === 1 ? 'user' : json['type'] === 2 ? 'assistant' : undefined
  const externalId = acceptedId(bubble.id, 'message')
  const tool = toolOf(bubble, tools)
  const parts = [
    ...thinkingPart(objectOf(json['thinking'])['text']),
    ...textPart(json['text']),
    ...(tool ? toolParts(tool, externalId) : []),
  ]
  if (role === undefined || parts.length === 0) return undefined
  const model =
    textOf(objectOf(json['modelInfo'])['modelName']) ?? textOf(objectOf(composer['modelConfig'])['modelName'])
  return newMessage({
    externalId,
    role,
    model: role === 'assistant' ? model : undefined,
    order,
    timestamp: timeOf(json),
    parts,
  })
}
