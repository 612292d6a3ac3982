import type { SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'
import { errorPart } from '../support/parts.ts'
import { errorText, partsOf } from './parts.ts'
import type { StoredMessage } from './stored.ts'

/** The model of an answer: it is stored in two ways. */
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

/** The message of a stored one (README, rules 5 to 7); undefined when it has no parts, or a role that is not known. */
export const messageOf = ({ id, number, info, parts: stored }: StoredMessage): SessionMessage | undefined => {
  const role = roleOf(info)
  const failure = isObject(info['error']) ? [errorPart(errorText(info['error']))] : []
  const parts = [...stored.flatMap(partsOf), ...failure]
  if (role === undefined || parts.length === 0) return undefined
  const [model, timestamp] = [role === 'assistant' ? modelOf(info) : undefined, timeOf(info)]
  return {
    externalId: acceptedId(id, 'message'),
    role,
    ...(model === undefined ? {} : { model }),
    order: number,
    ...(timestamp === undefined ? {} : { timestamp }),
    parts,
  }
}

/** The messages without those that `revert` of the session takes back (README, rule 8). */
export async function* withoutReverted(
  messages: AsyncIterable<StoredMessage>,
  revert: Json | undefined,
): AsyncGenerator<StoredMessage> {
  for await (const message of messages) {
    if (revert === undefined || message.id !== revert['messageID']) {
      yield message
      continue
    }
    if (typeof revert['partID'] !== 'string') return
    const end = message.parts.findIndex(({ id }) => id === revert['partID'])
    const { error: _, ...info } = message.info
    yield { ...message, info, parts: message.parts.slice(0, Math.max(0, end)) }
    return
  }
}
