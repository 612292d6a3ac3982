import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId, type MessageIds, newMessageIds, noMessageIds } from '../support/external-ids.ts'
import { newHashedMap } from '../support/hashed-map.ts'
import { isObject, type Json, millisecondsOf, objectOf, objectsIn, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { mediaPlaceholder, withoutBase64 } from '../support/media.ts'
import {
  argsOfJson,
  blocksOf,
  callPart,
  type Draft,
  errorPart,
  newMessage,
  resultPart,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import { mcpToolName, newToolCalls, type ToolCalls } from '../support/tool-calls.ts'
import { usageOf } from '../support/usage.ts'
import { chosenModel } from './session.ts'

const fileName = (path: unknown): string | undefined =>
  textOf(path)
    ?.split(/[\\/]/)
    .findLast((name) => name !== '')

const attachmentText = (attachment: Json): string => {
  const { type, mimeType, displayName, path, filePath, data } = attachment
  const label = textOf(mimeType) ?? textOf(displayName) ?? fileName(path) ?? fileName(filePath)
  return mediaPlaceholder(textOf(type) ?? 'attachment', label, textOf(data)?.length)
}

/** The parts of a prompt (README, rule 2). */
const promptParts = ({ content, attachments }: Json): readonly Part[] => [
  ...textPart(content),
  ...objectsIn(attachments).map(attachmentText).flatMap(textPart),
]

/** The parts of an answer (README, rule 3). `isNew` says whether a text of thinking is new. */
const answerParts = (
  data: Json,
  calls: ToolCalls,
  messageId: () => string,
  isNew: (thinking: string) => boolean,
): readonly Part[] => [
  ...newThinking(data['reasoningText'], isNew),
  ...textPart(data['content']),
  ...objectsIn(data['toolRequests']).map((request, index) => {
    const { toolCallId: id, name, arguments: args } = request
    const fallbackId = `${messageId()}-call-${index + 1}`
    return callPart(calls, { id, name: toolNameOf(name, request), args: argsOfJson(args), fallbackId })
  }),
]

/** The part of a thinking text; no part if the text is not new (README, rule 4). */
const newThinking = (value: unknown, isNew: (thinking: string) => boolean): readonly Part[] => {
  const thinking = textOf(value)
  return thinking !== undefined && isNew(thinking) ? thinkingPart(thinking) : []
}

const outputOf = (content: unknown): string | undefined => {
  if (typeof content === 'string') return content
  const texts = blocksOf(content).flatMap(({ text }) => textOf(text) ?? [])
  return texts.length === 0 ? undefined : texts.join('\n')
}

const errorOf = (error: unknown): string | undefined => textOf(error) ?? textOf(objectOf(error)['message'])

const exited = /(?:^|\n)<[^<>\n]*exit(?:ed with exit)? code (-?\d+)>\s*$/

/** Whether a command for the shell failed: by the exit code beside the output, or the line that the CLI puts behind it. */
const shellFailed = (tool: string, result: Json, output: string): boolean => {
  const codes = objectsIn(result['contents']).map(({ exitCode }) => exitCode)
  const stored = codes.find((code) => typeof code === 'number')
  if (stored !== undefined) return stored !== 0
  const code = tool === 'bash' || tool === 'powershell' ? exited.exec(output)?.[1] : undefined
  return code !== undefined && Number(code) !== 0
}

/** The part of a result (README, rule 5). */
const executionPart = ({ toolCallId, success, result, error }: Json, calls: ToolCalls): Part => {
  const output = outputOf(isObject(result) ? result['content'] : result) ?? errorOf(error) ?? ''
  const call = calls.findForResult(toolCallId)
  const hasFailed = success === false || shellFailed(call.toolName, objectOf(result), output)
  return resultPart(call, withoutBase64(output), hasFailed)
}

/** The name of a tool; with its server, where the CLI has stored that. */
const toolNameOf = (name: unknown, { mcpServerName, mcpToolName: tool }: Json): unknown => {
  const server = textOf(mcpServerName)
  return server === undefined ? name : mcpToolName(server, textOf(tool) ?? String(name))
}

/** Returns whether a thinking text has not occurred since the last prompt (README, rule 4). */
const newThoughts = () => {
  let said = newHashedMap()
  return {
    forget: () => void (said = newHashedMap()),
    isNew: (thinking: string): boolean => said.add(thinking),
  }
}

/** Returns whether the event of a message is a repetition of an earlier one (README, rule 9). */
const newRepetitions = () => {
  const seen = newHashedMap()
  return (id: unknown, text: string): boolean => typeof id === 'string' && !seen.add(`${text.length} ${id}`)
}

export type Reading = {
  readonly calls: ToolCalls
  readonly thoughts: ReturnType<typeof newThoughts>
  readonly isRepetition: ReturnType<typeof newRepetitions>
  readonly messageId: MessageIds
  /** The model that was chosen last. */
  model: string | undefined
}

/** What an event needs of the events before it. `withIds` is false in a first reading, which needs no ids of messages. */
export const newReading = (withIds: boolean): Reading => ({
  calls: newToolCalls(),
  thoughts: newThoughts(),
  isRepetition: newRepetitions(),
  messageId: withIds ? newMessageIds() : noMessageIds,
  model: undefined,
})

/** Whether a prompt was typed by a person, and not sent by the CLI or by another agent. */
const isTyped = ({ source }: Json): boolean => source !== 'system' && !String(source).startsWith('agent-')

const errorDraft = (data: Json): Draft => ({
  role: 'system',
  parts: [errorPart(textOf(data['message']) ?? textOf(data['errorType']) ?? 'Error')],
})

const compactionDraft = (data: Json): Draft | undefined =>
  data['success'] === false
    ? undefined
    : { role: 'system', parts: textPart(textOf(data['summaryContent']) ?? 'Context compacted') }

/** The draft of an event's message; undefined for events that are no message (README, rules 2 to 8). */
const draftOf = (
  type: unknown,
  data: Json,
  { calls, thoughts }: Reading,
  messageId: () => string,
): Draft | undefined => {
  switch (type) {
    case 'user.message':
      return isTyped(data) ? { role: 'user', parts: promptParts(data) } : undefined
    case 'assistant.message':
      return { role: 'assistant', parts: answerParts(data, calls, messageId, thoughts.isNew) }
    case 'assistant.reasoning':
      return { role: 'assistant', parts: newThinking(data['content'], thoughts.isNew) }
    case 'tool.execution_complete':
      return { role: 'user', parts: [executionPart(data, calls)] }
    case 'session.error':
      return errorDraft(data)
    case 'session.compaction_complete':
      return compactionDraft(data)
    default:
      return undefined
  }
}

/** Notes what later events need of this one. */
const note = (reading: Reading, json: Json, data: Json): void => {
  const { toolCallId, toolName } = data
  if (json['type'] === 'user.message') reading.thoughts.forget()
  if (json['type'] === 'tool.execution_start' && isExternalId(toolCallId) && textOf(toolName))
    reading.calls.add(toolCallId, String(toolNameOf(toolName, data)), toolCallId)
  const chosen = chosenModel(json)
  if (chosen !== undefined) reading.model = chosen || undefined
}

/** The model of an answer. One of a sub-agent has none unless the event names it. */
const modelOf = ({ model }: Reading, data: Json): string | undefined =>
  textOf(data['model']) ?? (textOf(data['parentToolCallId']) ? undefined : model)

/** The message of an event; undefined for events that are no message. */
export const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const data = objectOf(json['data'])
  note(reading, json, data)
  let id: string | undefined
  const messageId = () => (id ??= reading.messageId(json['id'], text))
  const draft = draftOf(json['type'], data, reading, messageId)
  if (!draft || draft.parts.length === 0 || reading.isRepetition(json['id'], text)) return undefined
  return newMessage({
    externalId: messageId(),
    ...draft,
    model: draft.role === 'assistant' ? modelOf(reading, data) : undefined,
    order,
    timestamp: millisecondsOf(json['timestamp']),
    usage: draft.role === 'assistant' ? usageOf({ outputTokens: data['outputTokens'] }) : undefined,
  })
}
