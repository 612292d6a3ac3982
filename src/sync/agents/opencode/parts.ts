import type { Part } from '../agent.ts'
import { argsWithoutBinary } from '../support/args.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, objectOf, objectsIn, textOf } from '../support/json.ts'
import { dataUrlPlaceholder, kindOf, mediaPlaceholder } from '../support/media.ts'
import { outputOfValue } from '../support/output.ts'
import { errorPart, textPart, thinkingPart } from '../support/parts.ts'
import type { StoredPart } from './stored.ts'

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

const hasFailed = (tool: string, state: Json): boolean => {
  const { exit } = objectOf(state['metadata'])
  return state['status'] === 'error' || tool === 'invalid' || (typeof exit === 'number' && exit !== 0)
}

/** A call, and its result once there is one (README, rule 7). */
const toolParts = ({ id, json }: StoredPart): readonly Part[] => {
  const state = objectOf(json['state'])
  const toolName = textOf(json['tool']) ?? 'unknown'
  const names = { callId: isExternalId(json['callID']) ? json['callID'] : id, toolName }
  const args = argsWithoutBinary(state['input'])
  const made: Part = { type: 'tool_call', content: { ...names, args } }
  if (state['status'] === undefined || state['status'] === 'pending' || state['status'] === 'running') return [made]
  const text = outputOfValue(state['status'] === 'error' ? (state['error'] ?? state['output']) : state['output'])
  const output = [text, ...objectsIn(state['attachments']).map(fileText)]
    .filter((one, index) => index === 0 || one !== '')
    .join('\n')
  const status = hasFailed(toolName, state) ? 'error' : 'success'
  return [made, { type: 'tool_result', content: { ...names, output, status } }]
}

/** The text of an error of opencode's: `{ name, data: { message } }`. */
export const errorText = (error: unknown): string => {
  const { name, message, data } = objectOf(error)
  return textOf(objectOf(data)['message']) ?? textOf(message) ?? textOf(name) ?? 'Error'
}

/** What a stored part becomes (README, rules 6 and 7). */
export const partsOf = (part: StoredPart): readonly Part[] => {
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
