import type { Usage } from '../../../contract/usage.ts'
import type { SessionMessage } from '../agent.ts'
import { isExternalId, type LineIds } from '../support/external-ids.ts'
import { draftOfSaid, saidInPart } from '../support/injected.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { type Draft, errorPart, newMessage, textPart } from '../support/parts.ts'
import { newToolCalls, type ToolCalls } from '../support/tool-calls.ts'
import { sumOf, uncached, usageOf, withMadeId } from '../support/usage.ts'
import {
  answerParts,
  commandOutput,
  compactionParts,
  noticeParts,
  payloadOf,
  resultParts,
  typedParts,
} from './content.ts'

/** What a record needs of those before it. */
export type Reading = {
  readonly calls: ToolCalls
  readonly lineId: LineIds
  /** The command whose prompt comes next (README, rule 3). */
  command: string | undefined
}

export const newReading = (lineId: LineIds): Reading => ({ calls: newToolCalls(), lineId, command: undefined })

const typedDraft = (json: Json, command: string | undefined): Draft =>
  draftOfSaid(typedParts(json, command).flatMap((part) => saidInPart(part, 'qwen-code')))

/** What the user typed, with the records in which it is no prompt of its own (README, rules 3 and 4). */
const userDraft = (json: Json, reading: Reading): Draft | undefined => {
  const { subtype, provenance } = json
  switch (subtype) {
    case undefined: {
      const { command } = reading
      reading.command = undefined
      return provenance === undefined || provenance === 'real_user'
        ? typedDraft(json, command)
        : { role: 'system', parts: noticeParts(json) }
    }
    case 'mid_turn_user_message':
    case 'realtime_message':
      return typedDraft(json, undefined)
    case 'notification':
    case 'cron':
      return { role: 'system', parts: noticeParts(json) }
    default:
      return undefined
  }
}

/** A command of the CLI, or what it has answered. One that sends a prompt to the model is kept for the prompt (README, rule 3). */
const commandDraft = (json: Json, reading: Reading): Draft | undefined => {
  const { phase, rawCommand, sentToModel, hiddenInvocation } = payloadOf(json)
  if (phase === 'result') return { role: 'system', parts: commandOutput(json) }
  if (sentToModel === true) reading.command = textOf(rawCommand)
  return sentToModel === true || hiddenInvocation === true ? undefined : { role: 'system', parts: textPart(rawCommand) }
}

/** A request that the provider refused, but for those of sub-agents (README, rule 8). */
const errorDraft = (json: Json): Draft | undefined => {
  const event = objectOf(payloadOf(json)['uiEvent'])
  if (event['event.name'] !== 'qwen-code.api_error' || textOf(event['subagent_name'])) return undefined
  return {
    role: 'system',
    parts: [errorPart(textOf(event['error_message']) ?? textOf(event['error_type']) ?? 'Error')],
  }
}

const systemDraft = (json: Json, reading: Reading): Draft | undefined => {
  switch (json['subtype']) {
    case 'slash_command':
      return commandDraft(json, reading)
    case 'chat_compression':
      return { role: 'system', parts: compactionParts(json) }
    case 'ui_telemetry':
      return errorDraft(json)
    default:
      return undefined
  }
}

/** The draft of a record's message; undefined for records that are no message (README, rules 3 to 9). */
const draftOf = (json: Json, reading: Reading, messageId: () => string): Draft | undefined => {
  switch (json['type']) {
    case 'user':
      return userDraft(json, reading)
    case 'assistant':
      return { role: 'assistant', parts: answerParts(json, reading.calls, messageId) }
    case 'tool_result':
      return { role: 'user', parts: resultParts(json, reading.calls) }
    case 'system':
      return systemDraft(json, reading)
    default:
      return undefined
  }
}

/** What an answer has used. The CLI stores no id of the provider's. */
const usageIn = (json: Json): Usage | undefined => {
  const {
    promptTokenCount,
    candidatesTokenCount,
    cachedContentTokenCount,
    thoughtsTokenCount,
    totalTokenCount: total,
  } = objectOf(json['usageMetadata'])
  // Of some providers the tokens of the candidates include those of thoughts.
  const areIncluded = sumOf(promptTokenCount, candidatesTokenCount) === total
  const usage = usageOf({
    inputTokens: uncached(promptTokenCount, cachedContentTokenCount),
    outputTokens: areIncluded ? candidatesTokenCount : sumOf(candidatesTokenCount, thoughtsTokenCount),
    cacheReadTokens: cachedContentTokenCount,
    reasoningTokens: thoughtsTokenCount,
  })
  return withMadeId(usage, json['timestamp'], textOf(json['model']))
}

/** The message of a record; undefined for records that are no message. */
export const readRecord = ({ json, text, number: order }: ObjectLine, reading: Reading): SessionMessage | undefined => {
  let id = isExternalId(json['uuid']) ? json['uuid'] : undefined
  const messageId = () => (id ??= reading.lineId(text))
  const draft = draftOf(json, reading, messageId)
  if (!draft || draft.parts.length === 0) return undefined
  return newMessage({
    externalId: messageId(),
    ...draft,
    model: draft.role === 'assistant' ? textOf(json['model']) : undefined,
    order,
    timestamp: millisecondsOf(json['timestamp']),
    usage: draft.role === 'assistant' ? usageIn(json) : undefined,
  })
}
