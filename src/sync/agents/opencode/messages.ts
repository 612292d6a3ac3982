import type { SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'
import { errorPart, newMessage } from '../support/parts.ts'
import { errorText, partsOf, type StoredPart } from './content.ts'

/** A message as opencode stores it. `number` is its place among the session's messages, from 1. */
export type StoredMessage = {
  readonly id: string
  readonly number: number
  readonly info: Json
  /** In order, without damaged ones. */
  readonly parts: readonly StoredPart[]
}

/** The model of an answer, which is stored in one of two places. */
const modelOf = (info: Json): string | undefined =>
  textOf(info['modelID']) ?? textOf(objectOf(info['model'])['modelID'])

const roleOf = ({ role, summary }: Json): SessionMessage['role'] | undefined => {
  if (role === 'assistant') return summary === true ? 'system' : 'assistant'
  return role === 'user' ? 'user' : undefined
}

const timeOf = (info: Json): number | undefined => {
  const { created } = objectOf(info['time'])
  return typeof created === 'number' && Number.isSafeInteger(Math.round(created)) ? Math.round(created) : undefined
}

/** The message of a stored one (README, rules 5 to 7); undefined where it has no parts, or an unknown role. */
export const messageOf = ({ id, number, info, parts: stored }: StoredMessage): SessionMessage | undefined => {
  const role = roleOf(info)
  const failure = isObject(info['error']) ? [errorPart(errorText(info['error']))] : []
  const parts = [...stored.flatMap(partsOf), ...failure]
  if (role === undefined || parts.length === 0) return undefined
  return newMessage({
    externalId: acceptedId(id, 'message'),
    role,
    model: role === 'assistant' ? modelOf(info) : undefined,
    order: number,
    timestamp: timeOf(info),
    parts,
  })
}
