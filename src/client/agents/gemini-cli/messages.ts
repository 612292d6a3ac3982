import type { Usage } from '../../../contract/usage.ts'
import type { Part, SessionMessage } from '../agent.ts'
import { acceptedId, isExternalId } from '../support/external-ids.ts'
import {
  contentParts,
  contentText,
  responsePart,
  resultText,
  shellFailed,
  toolNameOf,
  unknownParts,
} from '../support/gemini-content.ts'
import { draftOfSaid, saidInPart } from '../support/injected.ts'
import { type Json, millisecondsOf, objectOf, objectsIn, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { argsWithoutBinary, callWithResult, type Draft, errorPart, newMessage, thinkingPart } from '../support/parts.ts'
import { sumOf, uncached, usageOf, withMadeId } from '../support/usage.ts'
import { type History, isRecord, messagesIn } from './history.ts'

const thoughtParts = (thought: Json): readonly Part[] =>
  thinkingPart([thought['subject'], thought['description']].filter(textOf).join('\n'))

/** Which calls and results belong to a message: each is given once, however often the CLI states it (README, rule 12). */
export type Owned = { readonly call: (id: unknown) => boolean; readonly result: (id: unknown) => boolean }

const ALL: Owned = { call: () => true, result: () => true }

const isOwned = (owned: Owned, part: Part, id: unknown): boolean =>
  part.type === 'tool_call' ? owned.call(id) : owned.result(id)

/** A call, and its result once there is one (README, rules 5 and 6). */
const toolParts = (call: Json, fallbackId: string, owned: Owned): readonly Part[] => {
  const { id, args, result, status, resultDisplay } = call
  const name = toolNameOf(call['name'], call['displayName'])
  const output = result === undefined || result === null ? undefined : resultText(result)
  const parts = callWithResult(
    { id, name, args: argsWithoutBinary(args), fallbackId },
    output === undefined
      ? undefined
      : { output, hasFailed: status !== 'success' || shellFailed(name, output, resultDisplay) },
  )
  return parts.filter((part) => isOwned(owned, part, id))
}

/** A call or a result that is a part of the content, as the model gets it (README, rule 12). Those without ids repeat others. */
const partOfModel =
  (owned: Owned, calls: readonly Json[]) =>
  (part: Json): readonly Part[] => {
    const [call, answer] = [objectOf(part['functionCall']), objectOf(part['functionResponse'])]
    const isNew = isExternalId(call['id']) && !calls.some(({ id }) => id === call['id'])
    if (isNew) return toolParts(call, '', owned)
    if (!isExternalId(answer['id']) || !owned.result(answer['id'])) return []
    return [responsePart(answer, answer['id'])]
  }

const answerParts = (message: Json, id: string, owned: Owned): readonly Part[] => {
  const calls = objectsIn(message['toolCalls'])
  return [
    ...objectsIn(message['thoughts']).flatMap(thoughtParts),
    ...contentParts(message['content'], partOfModel(owned, calls)),
    ...calls.flatMap((call, index) => toolParts(call, `${id}-call-${index + 1}`, owned)),
  ]
}

const userDraft = ({ displayContent, content }: Json, owned: Owned): Draft => {
  const shown = contentParts(displayContent)
  const parts = shown.length > 0 ? shown : contentParts(content, partOfModel(owned, []))
  return draftOfSaid(parts.flatMap((part) => saidInPart(part, 'gemini-cli')))
}

/** The draft of a message with this externalId; undefined for unknown types (README, rule 5). */
export const draftOf = (message: Json, id: string, owned = ALL): Draft | undefined => {
  switch (message['type']) {
    case 'user':
      return userDraft(message, owned)
    case 'gemini':
      return { role: 'assistant', parts: answerParts(message, id, owned) }
    case 'info':
    case 'warning':
      return { role: 'system', parts: contentParts(message['content']) }
    case 'error':
      return { role: 'system', parts: [errorPart(contentText(message['content']) ?? 'Error')] }
    default:
      return undefined
  }
}

const TYPES = ['user', 'gemini', 'info', 'warning', 'error']

/** What a record holds that is left out, because its kind is not known (README, rule 13). */
export const unknownIn = (line: Json): readonly unknown[] => {
  const messages = typeof line['id'] === 'string' ? [line] : objectsIn(objectOf(line['$set'] ?? line)['messages'])
  if (messages.length === 0 && !isRecord(line)) return [line['type'] ?? 'record']
  return messages.flatMap(({ type, content }) => (TYPES.includes(String(type)) ? unknownParts(content) : [type]))
}

const ownedBy = ({ calls, results }: History, messageId: string): Owned => {
  const has = (owners: ReadonlyMap<string, string>) => (id: unknown) =>
    typeof id !== 'string' || (owners.get(id) ?? messageId) === messageId
  return { call: has(calls), result: has(results) }
}

/** What an answer has used. The CLI stores no id of the provider's. */
const usageIn = (json: Json): Usage | undefined => {
  const { input, output, cached, thoughts } = objectOf(json['tokens'])
  const usage = usageOf({
    inputTokens: uncached(input, cached),
    outputTokens: sumOf(output, thoughts),
    cacheReadTokens: cached,
    reasoningTokens: thoughts,
  })
  return withMadeId(usage, json['timestamp'], textOf(json['model']))
}

/** The messages of a line, without those that later lines remove or write again. */
export const messagesOf = (line: ObjectLine, history: History): readonly SessionMessage[] =>
  messagesIn(line).flatMap(({ id, json, index }) => {
    const place = history.places.get(id)
    if (place?.line !== line.number || place.index !== index) return []
    const externalId = acceptedId(id, 'message')
    const draft = draftOf(json, externalId, ownedBy(history, id))
    if (!draft || draft.parts.length === 0) return []
    return newMessage({
      externalId,
      ...draft,
      model: draft.role === 'assistant' ? textOf(json['model']) : undefined,
      order: place.order,
      timestamp: millisecondsOf(place.time),
      usage: draft.role === 'assistant' ? usageIn(json) : undefined,
    })
  })
