import type { SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { isObject, type Json, millisecondsOf, objectOf, parseObject, textOf } from '../support/json.ts'
import { textPart, thinkingPart } from '../support/parts.ts'
import { toolParts } from './tools.ts'

/** A bubble of a session. `number` is its place, from 1. */
export type Bubble = { readonly id: string; readonly number: number; readonly json: Json }

const TOOL = 15
const YEAR_2000 = Date.UTC(2000)

/** When the bubble was made. In some versions the start is relative to another time of the same bubble. */
const timeOf = ({ createdAt, timingInfo }: Json): number | undefined => {
  const created = typeof createdAt === 'number' ? createdAt : millisecondsOf(createdAt)
  const { clientStartTime: start, clientRpcSendTime, clientSettleTime, clientEndTime } = objectOf(timingInfo)
  const end = [clientRpcSendTime, clientSettleTime, clientEndTime].find((time) => typeof time === 'number' && time > 0)
  const relative = typeof start === 'number' && start < YEAR_2000
  const time = created ?? (relative && typeof end === 'number' ? end - start : start)
  return typeof time === 'number' && time >= YEAR_2000 && time < 8.64e15 ? Math.round(time) : undefined
}

/** The tools of a session of an earlier version, by bubble: an object, or its JSON text. */
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

/** The message of a bubble (README, rules 4 and 5); undefined when it has no parts, or a type that is not known. */
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
  const timestamp = timeOf(json)
  return {
    externalId,
    role,
    ...(role === 'assistant' && model !== undefined ? { model } : {}),
    order,
    ...(timestamp === undefined ? {} : { timestamp }),
    parts,
  }
}
