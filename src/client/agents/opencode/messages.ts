import type { Usage } from '../../../contract/usage.ts'
import type { Part, SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { isObject, type Json, objectOf, objectsIn, textOf } from '../support/json.ts'
import { dataUrlPlaceholder, kindOf, mediaPlaceholder } from '../support/media.ts'
import {
  argsWithoutBinary,
  callWithResult,
  errorPart,
  newMessage,
  outputOfValue,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import { mcpToolName } from '../support/tool-calls.ts'
import { unknownBlocks } from '../support/unknown-kinds.ts'
import { sumOf, usageOf, withMadeId } from '../support/usage.ts'

/** A part as opencode stores it. */
type StoredPart = { readonly id: string; readonly json: Json }

const durationOf = (time: Json): number | undefined => {
  const { start, end } = time
  return typeof start === 'number' && typeof end === 'number' && end >= start ? Math.round(end - start) : undefined
}

/** The text that replaces a file (README, rule 6). */
const fileText = (file: Json): string => {
  const [url, mime] = [textOf(file['url']), textOf(file['mime'])]
  const inline = url === undefined ? undefined : dataUrlPlaceholder(url)
  if (inline !== undefined) return inline
  return mediaPlaceholder(kindOf(mime), [mime, textOf(file['filename'])].filter(Boolean).join(' '))
}

const hasFailed = (tool: unknown, state: Json): boolean => {
  const { exit } = objectOf(state['metadata'])
  return state['status'] === 'error' || tool === 'invalid' || (typeof exit === 'number' && exit !== 0)
}

const outputOf = (state: Json): string => {
  const text = outputOfValue(state['status'] === 'error' ? (state['error'] ?? state['output']) : state['output'])
  return [text, ...objectsIn(state['attachments']).map(fileText)]
    .filter((one, index) => index === 0 || one !== '')
    .join('\n')
}

const UNFINISHED: readonly unknown[] = [undefined, 'pending', 'running']

/** opencode joins the names of an MCP server and its tool with one underscore, which names also have: only of our own it is known. */
const toolNameOf = (name: unknown): unknown => {
  const [, tool] = /^tracebook_(?!_)(.+)$/.exec(String(name)) ?? []
  return tool === undefined ? name : mcpToolName('tracebook', tool)
}

/** A call, and its result once there is one (README, rule 7). */
const toolParts = ({
  id: fallbackId,
  json: { callID: id, tool: name, state: stored },
}: StoredPart): readonly Part[] => {
  const state = objectOf(stored)
  return callWithResult(
    { id, name: toolNameOf(name), args: argsWithoutBinary(state['input']), fallbackId },
    UNFINISHED.includes(state['status']) ? undefined : { output: outputOf(state), hasFailed: hasFailed(name, state) },
  )
}

/** The text of an error that opencode has stored: `{ name, data: { message } }`. */
const errorText = (error: unknown): string => {
  const { name, message, data } = objectOf(error)
  return textOf(objectOf(data)['message']) ?? textOf(message) ?? textOf(name) ?? 'Error'
}

/** The parts from a stored one (README, rules 6 and 7). */
const partsOf = (part: StoredPart): readonly Part[] => {
  const { json } = part
  switch (json['type']) {
    case 'text':
      return json['synthetic'] === true || json['ignored'] === true ? [] : textPart(json['text'])
    case 'reasoning':
      return thinkingPart(json['text'], durationOf(objectOf(json['time'])))
    case 'tool':
      return toolParts(part)
    case 'file':
      return textPart(fileText(json))
    case 'subtask':
      return textPart(textOf(json['prompt']) ?? json['description'])
    case 'retry':
      return [errorPart(errorText(json['error']))]
    default:
      return []
  }
}

const PARTS = [
  ...['text', 'reasoning', 'tool', 'file', 'subtask', 'retry'],
  ...['step-start', 'step-finish', 'snapshot', 'patch', 'agent', 'compaction'],
]

/** What a message holds that is left out, because its kind is not known (README, rule 12). */
export const unknownIn = ({ info, parts }: StoredMessage): readonly unknown[] =>
  roleOf(info) === undefined
    ? [info['role']]
    : unknownBlocks(
        parts.map(({ json }) => json),
        PARTS,
      )

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

/** What an answer has used. The CLI stores no id of the provider's, and copies answers into a fork under new ids. */
const usageIn = (info: Json): Usage | undefined => {
  const { input, output, reasoning, cache } = objectOf(info['tokens'])
  const { read, write } = objectOf(cache)
  const usage = usageOf({
    inputTokens: input,
    outputTokens: sumOf(output, reasoning),
    cacheReadTokens: read,
    cacheWriteTokens: write,
    reasoningTokens: reasoning,
    costUsd: info['cost'],
  })
  return withMadeId(usage, timeOf(info), modelOf(info))
}

/** The message from a stored one (README, rules 5 to 7); undefined if it has no parts, or an unknown role. */
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
    usage: role === 'user' ? undefined : usageIn(info),
    parts,
  })
}
