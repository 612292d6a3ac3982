import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId, newLineIds } from '../support/external-ids.ts'
import { newHashedMap } from '../support/hashed-map.ts'
import { draftOfSaid, type PartOrSaid, type Said, saidIn } from '../support/injected.ts'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'
import { type ObjectLine, textLines } from '../support/lines.ts'
import {
  argsWithoutBinary,
  blocksOf,
  callPart,
  type Draft,
  newMessage,
  outputOfBlocks,
  outputOfValue,
  placeholder,
  resultPart,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import { newToolCalls } from '../support/tool-calls.ts'
import { unknownBlocks } from '../support/unknown-kinds.ts'

const [OPEN, CLOSE] = ['<user_query>', '</user_query>']

/** Whether a text has the tag of what the user typed. */
export const isTyped = (text: string): boolean => text.includes(OPEN)

/** What a text of the user says: where it has the tag, the part in it was typed (README, rule 6). */
export const saidByUser = (text: string): readonly Said[] => {
  const start = text.indexOf(OPEN)
  if (start === -1) return saidIn(text, 'cursor')
  const end = text.indexOf(CLOSE, start)
  return [{ is: 'typed', text: text.slice(start + OPEN.length, end === -1 ? undefined : end).trim() }]
}

/** Whether a line has the form of a message, or of the end of a turn. */
export const isTranscriptLine = ({ role, type, message }: Json): boolean =>
  typeof role === 'string' ? isObject(message) : type === 'turn_ended'

const BLOCKS = [...['text', 'thinking', 'tool_use', 'tool_call', 'tool_result', 'tool-result', 'image', 'document']]

/** What a line holds that is left out, because its kind is not known (README, rule 15). */
export const unknownIn = ({ role, type, message }: Json): readonly unknown[] => {
  if (role === 'user' || role === 'assistant') return unknownBlocks(blocksOf(objectOf(message)['content']), BLOCKS)
  return type === 'turn_ended' ? [] : [role ?? type]
}

/** What a line needs of the lines before it. `callIds` are the ids of calls, most of which have none although their results do. */
export const newReading = () => ({ calls: newToolCalls(), callIds: newHashedMap(), lineId: newLineIds() })
export type Reading = ReturnType<typeof newReading>

const resultOf = (block: Json, { calls, callIds }: Reading): Part => {
  const id = block['tool_use_id'] ?? block['toolCallId']
  const isOfCall = typeof id === 'string' && callIds.get(id) !== undefined
  const found = calls.findForResult(isOfCall ? id : undefined)
  const call =
    found.toolName === 'unknown'
      ? { callId: isExternalId(id) ? id : 'unknown', toolName: textOf(block['name']) ?? 'unknown' }
      : found
  const hasFailed = block['is_error'] === true || block['isError'] === true
  return resultPart(call, outputOfBlocks(block['content'], outputOfValue), hasFailed)
}

const partsOf = (block: Json, role: string, reading: Reading, fallbackId: string): readonly PartOrSaid[] => {
  switch (block['type']) {
    case 'text':
      return role === 'user' && typeof block['text'] === 'string' ? saidByUser(block['text']) : textPart(block['text'])
    case 'thinking':
      return thinkingPart(block['thinking'])
    case 'tool_use':
    case 'tool_call': {
      const { id, name, input } = block
      if (typeof id === 'string') reading.callIds.add(id)
      return [callPart(reading.calls, { id, name, args: argsWithoutBinary(input), fallbackId })]
    }
    case 'tool_result':
    case 'tool-result':
      return [resultOf(block, reading)]
    case 'image':
    case 'document':
      return textPart(placeholder(block))
    default:
      return []
  }
}

/** The message of a line of JSON; undefined for lines that are no message. */
export const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const { role, message, model } = json
  if (role !== 'user' && role !== 'assistant') return undefined
  const externalId = reading.lineId(text)
  const all: PartOrSaid[] = []
  for (const block of blocksOf(objectOf(message)['content']))
    all.push(...partsOf(block, role, reading, `${externalId}-call-${all.length + 1}`))
  const draft = draftOfSaid(all)
  if (draft.parts.length === 0) return undefined
  return newMessage({
    externalId,
    role: role === 'user' ? draft.role : role,
    model: role === 'assistant' ? textOf(model) : undefined,
    order,
    parts: draft.parts,
  })
}

/** The messages of a transcript in plain text. */
export async function* messagesOfText(path: string, size: number): AsyncGenerator<SessionMessage> {
  const idOf = newLineIds()
  let open: { readonly role: 'user' | 'assistant'; readonly order: number; readonly lines: string[] } | undefined
  const close = function* (): Generator<SessionMessage> {
    if (!open) return
    const { role, order, lines } = open
    const externalId = idOf(`${role} ${lines.find((line) => line.trim() !== '') ?? ''}`)
    const text = lines.join('\n').trim()
    const draft: Draft = role === 'user' ? draftOfSaid(saidByUser(text)) : { role, parts: textPart(text) }
    if (draft.parts.length > 0) yield { externalId, role: draft.role, order, parts: draft.parts }
  }
  let order = 0
  for await (const text of textLines(path, size)) {
    order++
    const role = /^\s*(user|assistant):\s*$/.exec(text)?.[1] as 'user' | 'assistant' | undefined
    if (role) {
      yield* close()
      open = { role, order, lines: [] }
    } else open?.lines.push(text)
  }
  yield* close()
}
